import type { HttpAdapterHost } from '@nestjs/core';
import { BackgroundWork } from './background-work.js';

const adapter = { isDraining: false };
const background = new BackgroundWork({
  httpAdapter: adapter,
} as unknown as HttpAdapterHost<never>);

describe('work that is repeated', () => {
  beforeEach(() => {
    jest.useFakeTimers();
    adapter.isDraining = false;
  });
  afterEach(async () => {
    background.onModuleDestroy();
    await background.beforeApplicationShutdown();
    jest.useRealTimers();
  });

  it('does not start while the server drains, unless running work depends on it, which it outlasts', async () => {
    const [others, leases] = [jest.fn(), jest.fn()];
    background.repeat(1_000, others, 'failed');
    background.repeat(1_000, leases, 'failed', { forRunningWork: true });
    await jest.advanceTimersByTimeAsync(1_000);
    adapter.isDraining = true;
    await jest.advanceTimersByTimeAsync(2_000);
    expect([others.mock.calls.length, leases.mock.calls.length]).toEqual([1, 3]);
    background.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(1_000);
    expect([others.mock.calls.length, leases.mock.calls.length]).toEqual([1, 4]);
    await background.beforeApplicationShutdown();
    await jest.advanceTimersByTimeAsync(2_000);
    expect(leases).toHaveBeenCalledTimes(4);
  });
});
