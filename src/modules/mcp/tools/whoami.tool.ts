import { Injectable } from '@nestjs/common';
import { describeKey, KeyInfoDto } from '../../auth/me.dto.js';
import {
  type LimitName,
  RateLimits,
  remainingHits,
} from '../../../platform/access/limits/rate-limits.js';
import type { Call } from '../../../platform/data/call.js';
import { Tool } from './tool.decorator.js';

/** Returns the properties of the key, as `GET /api/v1/me` does, and the state of its rate limits. */
@Injectable()
export class WhoamiTool {
  constructor(private readonly limits: RateLimits) {}

  @Tool('whoami', {
    title: 'Tell whose key this is',
    description:
      "Tell the organization, the API key's scopes and expiry, and how many reads and writes are left until when.",
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
    return { ...describeKey(call), limits: { reads, writes } };
  }

  private async stateOf(name: LimitName, call: Call) {
    const window = await this.limits.peek(name, call.actor);
    const remaining = remainingHits(window);
    return { limit: window.limit, remaining, resets_at: new Date(window.endsAt) };
  }
}
