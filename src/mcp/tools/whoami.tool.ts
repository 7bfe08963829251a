import { Injectable } from '@nestjs/common';
import { factsOf } from '../../auth/key-facts.js';
import { type LimitName, RateLimits } from '../../rate-limit/rate-limits.js';
import type { Actor } from '../../tenancy/actor.js';
import { Tool } from './tool.decorator.js';
import { WhoamiDto } from './whoami.dto.js';

/** What `GET /api/v1/me` is to connectors, and how much is left of the limits. */
@Injectable()
export class WhoamiTool {
  constructor(private readonly limits: RateLimits) {}

  @Tool('whoami', {
    title: 'Tell whose key this is',
    description:
      "Tell the organization, the API key's scopes and expiry, and how many reads and writes are left until when.",
    effect: 'reads',
    scope: 'any-key',
    // To ask what is left of the limits takes nothing from them.
    isUnmetered: true,
    output: WhoamiDto,
  })
  async get(actor: Actor): Promise<WhoamiDto> {
    const [reads, writes] = [
      await this.remaining('reads', actor),
      await this.remaining('writes', actor),
    ];
    return { ...factsOf(actor), limits: { reads, writes } };
  }

  private async remaining(of: LimitName, { key }: Actor) {
    const { limit, totalHits, endsAt } = await this.limits.peek(of, key.id);
    return { limit, remaining: limit - totalHits, resets_at: new Date(endsAt) };
  }
}
