/**
 * Whether tests check how long something takes. Only `npm run verify` sets it, because these times depend on what else
 * the machine does.
 */
export const CHECKS_TIMES = process.env.TEST_TIMES === '1';

/** Expects a time in milliseconds to be shorter than promised, if tests check times. */
export function expectShorter(ms: number, promisedMs: number): void {
  if (CHECKS_TIMES) expect(ms).toBeLessThan(promisedMs);
}
