import { Injectable } from '@nestjs/common';
import type { Call, KeyLimits } from '../../data/call.js';

/**
 * Decides the rate limits of a key. It runs when a key is looked up, which is about twice a second for
 * a key in use. An extension can replace it (docs/guides/replace-and-add.md#rate-limits).
 */
export abstract class RateLimitPolicy {
  /** @returns the limits of the key; undefined if its own apply or, if it has none, those of the settings */
  abstract limitsOf(call: Call): KeyLimits | undefined | Promise<KeyLimits | undefined>;
}

/** Leaves every key its own limits, or those of the settings. */
@Injectable()
export class SettingsRateLimitPolicy extends RateLimitPolicy {
  limitsOf(): undefined {
    return undefined;
  }
}

/** @throws Error if a limit is not an integer above 0 */
export function assertLimits(policy: RateLimitPolicy, { reads, writes }: KeyLimits): void {
  for (const [name, limit] of Object.entries({ reads, writes })) {
    if (Number.isSafeInteger(limit) && limit > 0) continue;
    throw new Error(
      `${policy.constructor.name} returned ${limit} for ${name}, which is not an integer above 0`,
    );
  }
}
