import { Injectable } from '@nestjs/common';
import { ApiError, InjectSetting } from 'latitude';
import { MessagesMetrics } from './messages.metrics.js';

export interface Sms {
  /** The id of the message. The provider sends a message with a known id once. */
  readonly id: string;
  /** The organization, which the provider repeats in its receipts. */
  readonly account: string;
  readonly to: string;
  readonly text: string;
}

@Injectable()
export class SmsProvider {
  constructor(
    @InjectSetting('SMS_PROVIDER_URL') private readonly url: string | undefined,
    private readonly metrics: MessagesMetrics,
  ) {}

  /** @throws ApiError `provider_unavailable` if the server has no `SMS_PROVIDER_URL` */
  assertConfigured(): string {
    if (this.url !== undefined) return this.url;
    throw new ApiError('provider_unavailable', { message: 'SMS_PROVIDER_URL is not set.' });
  }

  /** @throws ApiError `provider_unavailable` */
  async send(sms: Sms): Promise<void> {
    const url = this.assertConfigured();
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(sms),
        signal: AbortSignal.timeout(5_000),
      });
      if (!response.ok) throw new Error(`the provider answered ${response.status}`);
      this.metrics.calls.inc({ result: 'accepted' });
    } catch (cause) {
      this.metrics.calls.inc({ result: 'failed' });
      throw new ApiError('provider_unavailable', { cause });
    }
  }
}
