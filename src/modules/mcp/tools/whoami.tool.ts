import { Injectable } from '@nestjs/common';
import { describeKey, KeyInfoDto } from '../../auth/me.dto.js';
import {
  type LimitName,
  RateLimits,
  remainingHits,
} from '../../../platform/access/limits/rate-limits.js';
import type { Call } from '../../../platform/data/call.js';
import { Tool } from './tool.decorator.js';

/** Returns the time, the properties of the key, as `GET /api/v1/me` does, and the state of its rate limits. */
@Injectable()
export class WhoamiTool {
  constructor(private readonly limits: RateLimits) {}

  @Tool('whoami', {
    title: 'Tell whose key this is',
    description:
      "Tell the time, the organization with its time zone, the API key's scopes and expiry, and how many reads and writes are left until when.",
    effect: 'reads',
    scope: 'any-key',
    // Asking for the limits must not use them up.
    isUnmetered: true,
    brief: { result: ['scopes', 'expires_at'] },
    output: KeyInfoDto,
  })
  async get(call: Call) {
    const reads = await this.stateOf('reads', call);
    const writes = await this.stateOf('writes', call);
    const time = new Date();
    const local_time = localTimeOf(time, call.tenant.timeZone);
    return { ...describeKey(call), time, local_time, limits: { reads, writes } };
  }

  private async stateOf(name: LimitName, call: Call) {
    const window = await this.limits.peek(name, call.actor);
    const remaining = remainingHits(window);
    return { limit: window.limit, remaining, resets_at: new Date(window.endsAt) };
  }
}

/** A time in a time zone, with its offset: such as `2026-03-02T18:00:00+01:00`. */
function localTimeOf(time: Date, timeZone: string): string {
  // The Swedish form is that of ISO 8601, with a space.
  const local = time.toLocaleString('sv-SE', { timeZone }).replace(' ', 'T');
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const name = parts.formatToParts(time).find(({ type }) => type === 'timeZoneName');
  // The offset of UTC is GMT alone.
  return local + (name?.value === 'GMT' ? '+00:00' : (name?.value.slice('GMT'.length) ?? ''));
}
