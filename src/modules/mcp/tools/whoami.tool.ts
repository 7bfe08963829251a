import { Injectable } from '@nestjs/common';
import { describeKey } from '../../auth/me.dto.js';
import {
  type LimitName,
  RateLimits,
  remainingHits,
} from '../../../platform/access/limits/rate-limits.js';
import type { Actor } from '../../../platform/data/actor.js';
import { Tool } from './tool.decorator.js';
import { WhoamiDto } from './whoami.dto.js';

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
    output: WhoamiDto,
  })
  async get(actor: Actor): Promise<WhoamiDto> {
    const reads = await this.stateOf('reads', actor);
    const writes = await this.stateOf('writes', actor);
    return { ...describeKey(actor), limits: { reads, writes } };
  }

  private async stateOf(name: LimitName, actor: Actor) {
    const window = await this.limits.peek(name, actor);
    const remaining = remainingHits(window);
    return { limit: window.limit, remaining, resets_at: new Date(window.endsAt) };
  }
}
