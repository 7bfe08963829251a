import { Injectable } from '@nestjs/common';
import type { AppointmentDto } from '../appointments/appointment.dto.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { LabelledId } from '../mcp/prompts/labelled-id.js';
import { Prompt, type PromptPart } from '../mcp/prompts/prompt.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { listParts } from './prompt-parts.js';
import { SalesRecords } from './sales-records.js';

class PrepareAppointmentDto {
  @LabelledId('appointment', { required: true, description: 'The appointment to prepare for.' })
  appointment_id: string;
}

@Injectable()
export class PrepareAppointmentPrompt {
  constructor(private readonly records: SalesRecords) {}

  @Prompt('prepare_appointment', {
    title: 'Prepare for an appointment',
    description: 'Sum up an appointment and its lead, with all that is open between you.',
    scopes: ['appointments:read', 'leads:read', 'tasks:read'],
    input: PrepareAppointmentDto,
  })
  async build(call: Call, { appointment_id }: PrepareAppointmentDto): Promise<PromptPart[]> {
    const appointment = await this.records.appointment(call, appointment_id);
    return [
      `Help me prepare for an appointment. It is ${new Date().toISOString()}. The appointment:`,
      { kind: 'appointment', record: appointment },
      ...(await this.about(call, appointment)),
      'Give me one page: who the lead is and how to reach it, what the appointment is for, what happened before, ' +
        'what is still open, and three things to ask or to offer. Say what is missing in the records.',
    ];
  }

  private async about(call: Call, { id, lead_id: leadId }: AppointmentDto) {
    const [lead, appointments, tasks] = await Promise.all([
      this.records.lead(call, leadId).catch(undefinedIfNotFound),
      this.records.appointmentsWith(call, leadId),
      this.records.openTasks(call, { contact_id: leadId }),
    ]);
    const others = {
      data: appointments.data.filter((one) => one.id !== id),
      total: appointments.total - 1,
    };
    return [
      ...(lead ? ['The lead:', { kind: 'lead', record: lead }] : ['The lead has been deleted.']),
      ...listParts('Other appointments with the lead, the latest first', 'appointment', others),
      ...listParts('Open tasks about the lead, the most pressing first', 'task', tasks),
      ...(lead ? [await this.records.contactRule(call, lead)] : []),
    ];
  }
}

/** Appointments remain when their lead is deleted. */
function undefinedIfNotFound(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return;
  throw error;
}
