import { destroyAfter, ResilientClient } from '../connection/resilient-client.js';
import { TimeBudget } from './time-budget.js';

/** How long an admitted request may take, also if the database does not respond. */
const MAX_RESPONSE_MS = 5_000 - new TimeBudget().admissionMs;

/** Time in milliseconds after which an operation starts no more statements. */
const OPERATION_MS = 3_500;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it.each([0, 1_000, 2_500, 3_000, OPERATION_MS - 1])(
  'ends a statement that starts %d ms after its operation so that a request that has waited takes less than 5 seconds',
  (ms) => {
    const deadline = new TimeBudget().startDeadline();
    jest.advanceTimersByTime(ms);
    for (const wait of ['brief', 'long'] as const) {
      const [lock, statement] = deadline.timeouts(wait).map(Number);
      expect(lock).toBeLessThanOrEqual(statement!);
      expect(ms + statement!).toBeLessThan(MAX_RESPONSE_MS);
    }
    const { client, destroy } = watchedClient();
    destroyAfter(deadline.connectionMs, client);
    jest.advanceTimersByTime(MAX_RESPONSE_MS - ms);
    expect(destroy).toHaveBeenCalled();
  },
);

it('divides the time among the executions of a statement', () => {
  const deadline = new TimeBudget().startDeadline();
  const [, one] = deadline.timeouts('brief').map(Number);
  const [lock, statement] = deadline.timeouts('brief', 64).map(Number);
  expect(64 * statement!).toBeLessThanOrEqual(one!);
  expect(lock).toBe(statement);
});

it('does not destroy a connection that was released in time', () => {
  const deadline = new TimeBudget().startDeadline();
  const { client, destroy } = watchedClient();
  destroyAfter(deadline.connectionMs, client)();
  jest.advanceTimersByTime(MAX_RESPONSE_MS);
  expect(destroy).not.toHaveBeenCalled();
});

/** A client that is not connected. */
function watchedClient() {
  const client = new ResilientClient();
  return { client, destroy: jest.spyOn(client, 'destroy') };
}
