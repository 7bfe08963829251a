import { Injectable } from '@nestjs/common';
import type { BatchDto, BatchOutcome } from '../../platform/data/batches/batch.dto.js';
import { itemDtosOf } from '../../platform/data/batches/batch-item.js';
import { BatchRunner } from '../../platform/data/batches/batch-runner.js';
import type { BatchTarget } from '../../platform/data/batches/batch-target.js';
import type { Call } from '../../platform/data/call.js';
import { CreateAppointmentDto, UpdateAppointmentDto } from './appointment.dto.js';
import { AppointmentsService } from './appointments.service.js';

/** Creates, changes and cancels several appointments (docs/contract/batches.md). */
@Injectable()
export class AppointmentBatchService {
  private readonly target: BatchTarget<CreateAppointmentDto, UpdateAppointmentDto>;

  constructor(
    private readonly batches: BatchRunner,
    appointments: AppointmentsService,
  ) {
    this.target = {
      items: itemDtosOf(CreateAppointmentDto, UpdateAppointmentDto),
      service: appointments,
      remove: (call, id) => appointments.cancel(call, id),
      removed: 'cancelled',
    };
  }

  /** @throws ApiError of the first item that fails, if the batch is atomic; `create_failed` */
  run(call: Call, batch: BatchDto): Promise<BatchOutcome> {
    return this.batches.run(call, batch, this.target);
  }
}
