import { Injectable } from '@nestjs/common';
import { HealthIndicator, type HealthResult, InjectSetting } from 'latitude';

@Injectable()
export class SmsProviderHealth extends HealthIndicator {
  readonly name = 'sms_provider';
  /** Every instance uses the same provider, so none is better than the others while it is down. */
  override readonly critical = false;

  constructor(@InjectSetting('SMS_PROVIDER_URL') private readonly url: string | undefined) {
    super();
  }

  async check(signal: AbortSignal): Promise<HealthResult> {
    if (this.url === undefined) return { status: 'down', detail: 'SMS_PROVIDER_URL is not set.' };
    const { ok, status } = await fetch(this.url, { method: 'HEAD', signal });
    return ok ? { status: 'up' } : { status: 'down', detail: `The provider answers ${status}.` };
  }
}
