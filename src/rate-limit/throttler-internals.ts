import type { Resolvable, ThrottlerGetTrackerFunction } from '@nestjs/throttler';

// The metadata of @Throttle and @SkipThrottle. Its keys are not public API: everything that relies on
// them is in this file.

/** The options of `@Throttle` for one name. */
export interface ThrottleOptions {
  readonly limit?: Resolvable<number>;
  readonly ttl?: Resolvable<number>;
  readonly blockDuration?: Resolvable<number>;
  readonly getTracker?: ThrottlerGetTrackerFunction;
  readonly generateKey?: unknown;
}

const KEYS: Readonly<Record<keyof ThrottleOptions, string>> = {
  limit: 'THROTTLER:LIMIT',
  ttl: 'THROTTLER:TTL',
  blockDuration: 'THROTTLER:BLOCK_DURATION',
  getTracker: 'THROTTLER:TRACKER',
  generateKey: 'THROTTLER:KEY_GENERATOR',
};

const SKIP = 'THROTTLER:SKIP';

/** Returns the options of `@Throttle` on a class or a method, by name. */
export function throttlesOf(target: object): Readonly<Record<string, ThrottleOptions>> {
  return Object.fromEntries(
    namesIn(target, KEYS.limit).map((name) => {
      const options = Object.entries(KEYS).flatMap(([option, key]) => {
        const value: unknown = Reflect.getMetadata(key + name, target);
        return value === undefined ? [] : [[option, value] as const];
      });
      return [name, Object.fromEntries(options)];
    }),
  );
}

/** Returns the names of `@SkipThrottle` on a class or a method, and whether they are skipped. */
export function skipsOf(target: object): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    namesIn(target, SKIP).map((name) => [
      name,
      Reflect.getMetadata(SKIP + name, target) as boolean,
    ]),
  );
}

function namesIn(target: object, key: string): string[] {
  return Reflect.getMetadataKeys(target).flatMap((each: unknown) =>
    typeof each === 'string' && each.startsWith(key) ? [each.slice(key.length)] : [],
  );
}
