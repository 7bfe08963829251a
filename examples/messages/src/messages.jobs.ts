import { Injectable } from '@nestjs/common';
import { type Call, defineJob, JobHandler, type JobRun, LeadsService } from 'latitude';
import type { Status } from './message.dto.js';
import { MessagesRepository } from './messages.repository.js';
import { SmsProvider } from './sms-provider.js';

const RETRIES = 5;

export const SEND_MESSAGE = defineJob<{ messageId: string }>('acme-messages.send', {
  retries: RETRIES,
  backoff: { delay: '1s' },
});

@Injectable()
export class MessagesJobs {
  constructor(
    private readonly messages: MessagesRepository,
    private readonly leads: LeadsService,
    private readonly provider: SmsProvider,
  ) {}

  /** Calls the provider. If it throws, the job runs again later. */
  @JobHandler(SEND_MESSAGE)
  async send(call: Call, { messageId }: { messageId: string }, { attempt }: JobRun) {
    const message = await this.messages.find(call, messageId);
    if (message?.status !== 'queued') return;
    const { phone } = await this.leads.get(call, message.lead_id);
    if (phone === null) return this.setStatus(call, messageId, 'failed');
    try {
      await this.provider.send({
        id: messageId,
        account: call.tenant.id,
        to: phone,
        text: message.text,
      });
    } catch (error) {
      if (attempt > RETRIES) await this.setStatus(call, messageId, 'failed');
      throw error;
    }
    await this.setStatus(call, messageId, 'sent');
  }

  private async setStatus(call: Call, id: string, status: Status): Promise<void> {
    await this.messages.update(call, id, (stored) =>
      stored.status === 'queued' ? { status } : undefined,
    );
  }
}
