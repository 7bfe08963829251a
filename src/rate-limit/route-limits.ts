import type { Type } from '@nestjs/common';
import { skipsOf, type ThrottleOptions, throttlesOf } from './throttler-internals.js';

/** The names of `@Throttle` and `@SkipThrottle`: all requests, GET and HEAD, or the others. */
const NAMES: ReadonlySet<string> = new Set(['default', 'reads', 'writes']);

/** A limit that a route has in place of the shared one. */
export interface RouteLimit extends Pick<ThrottleOptions, 'limit' | 'ttl' | 'getTracker'> {
  /** Identifies the route in the storage. */
  readonly key: string;
}

/** The limits of a route with `@Throttle` or `@SkipThrottle`; undefined stands for the shared limit. */
export type RouteLimits = Readonly<Record<'reads' | 'writes', RouteLimit | 'skipped' | undefined>>;

/**
 * Reads the limits that a route declares. Those of the method come before those of the class.
 * @returns undefined if it declares none
 * @throws Error with a predicate that follows the name of the route
 */
export function routeLimitsOf(
  controller: Type<unknown>,
  handler: { readonly name: string },
): RouteLimits | undefined {
  const skips = { ...skipsOf(controller), ...skipsOf(handler) };
  const throttles = mergeThrottles(throttlesOf(controller), throttlesOf(handler));
  const names = [...Object.keys(skips), ...Object.keys(throttles)];
  if (names.length === 0) return undefined;
  const unknown = names.find((name) => !NAMES.has(name));
  if (unknown !== undefined) {
    throw new Error(`limits "${unknown}", which is not a limit. Use default, reads or writes.`);
  }
  for (const options of Object.values(throttles)) assertSupported(options);
  const key = `${controller.name}.${handler.name}`;
  const limitOf = (name: 'reads' | 'writes') => {
    if (skips[name] ?? skips.default) return 'skipped';
    const options = throttles[name] ?? throttles.default;
    return options && { ...options, key: `${name}:${key}` };
  };
  return { reads: limitOf('reads'), writes: limitOf('writes') };
}

function mergeThrottles(
  ofClass: Readonly<Record<string, ThrottleOptions>>,
  ofMethod: Readonly<Record<string, ThrottleOptions>>,
): Partial<Record<string, ThrottleOptions>> {
  const names = [...Object.keys(ofClass), ...Object.keys(ofMethod)];
  return Object.fromEntries(names.map((name) => [name, { ...ofClass[name], ...ofMethod[name] }]));
}

/** A window ends at a fixed time, so a longer block is not possible. */
function assertSupported(options: ThrottleOptions = {}): void {
  for (const option of ['blockDuration', 'generateKey'] as const) {
    if (options[option] !== undefined) {
      throw new Error(
        `has @Throttle with ${option}. Only limit, ttl and getTracker are supported.`,
      );
    }
  }
  for (const option of ['limit', 'ttl'] as const) {
    const value = options[option];
    if (value === undefined || typeof value === 'function') continue;
    if (!Number.isInteger(value) || value < 1) {
      throw new Error(`has @Throttle with a ${option} that is not a positive integer.`);
    }
  }
}
