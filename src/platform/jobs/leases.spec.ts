import type { HttpAdapterHost } from '@nestjs/core';
import type { SystemDatabase } from '../data/gateway/system-database.js';
import { BackgroundWork } from './background-work.js';
import { Leases } from './leases.js';

const CALLS = { name: 'calls', until: 'run_at', key: { id: 'uuid' }, isLeased: 'is_running' };
const VISITS = { ...CALLS, name: 'visits' };

const query = jest.fn<Promise<never[]>, [text: string, values: readonly unknown[]]>(() =>
  Promise.resolve([]),
);
const httpAdapter = { isDraining: false };
const background = new BackgroundWork({ httpAdapter } as unknown as HttpAdapterHost<never>);
const leases = new Leases({ inBackground: query } as unknown as SystemDatabase, background);

/** The tables and the keys of the leases that were extended. */
function extended() {
  return query.mock.calls.map(([text, [keys]]) => [/^update (\w+)/.exec(text)?.[1], keys]);
}

beforeEach(() => {
  jest.useFakeTimers();
  query.mockClear();
  leases.onApplicationBootstrap();
});
afterEach(() => {
  background.onModuleDestroy();
  jest.useRealTimers();
});

it('extends the leases of running work, by their keys, until the work ends', async () => {
  let end = (): void => undefined;
  const work = () => new Promise<void>((resolve) => (end = resolve));
  const running = leases.during(CALLS, { id: 'one', payload: 'large' }, work);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(extended()).toEqual([['calls', '[{"id":"one"}]']]);
  end();
  await running;
  await jest.advanceTimersByTimeAsync(10_000);
  expect(query).toHaveBeenCalledTimes(1);
});

it('extends the leases of a table if those of another one cannot be extended', async () => {
  const forever = () => new Promise<void>(() => undefined);
  void leases.during(CALLS, { id: 'one' }, forever);
  void leases.during(VISITS, { id: 'two' }, forever);
  query.mockRejectedValueOnce(new Error('no connection'));
  await jest.advanceTimersByTimeAsync(5_000);
  expect(extended().map(([table]) => table)).toEqual(['calls', 'visits']);
});

it('no longer extends the lease of work that failed', async () => {
  await expect(
    leases.during({ ...CALLS, name: 'others' }, { id: 'one' }, () =>
      Promise.reject(new Error('failed')),
    ),
  ).rejects.toThrow('failed');
  await jest.advanceTimersByTimeAsync(5_000);
  expect(extended().map(([table]) => table)).not.toContain('others');
});
