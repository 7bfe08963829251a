import { TimeBudget, type Deadline } from './policies.js';
import { ScanLimit } from './scan-limit.js';

class NoWait extends TimeBudget {
  override readonly scanWaitMs = 0;
}

const callOf = (id: string): { tenant: { id: string }; deadline?: Deadline } => ({
  tenant: { id },
});

describe('ScanLimit', () => {
  it('leaves a place to other organizations, and refuses what would wait too long', async () => {
    const limit = new ScanLimit(2, new NoWait());
    let end = (): void => undefined;
    const running = limit.run(callOf('a'), () => new Promise<void>((resolve) => (end = resolve)));
    await expect(limit.run(callOf('a'), () => Promise.resolve())).rejects.toMatchObject({
      code: 'overloaded',
      headers: { 'Retry-After': '1' },
    });
    expect(await limit.run(callOf('b'), () => Promise.resolve('found'))).toBe('found');
    end();
    await running;
    expect(await limit.run(callOf('a'), () => Promise.resolve('found'))).toBe('found');
  });

  it('gives each scan its time when it starts', async () => {
    const limit = new ScanLimit(1, new TimeBudget());
    const left = await limit.run(callOf('a'), ({ deadline }) =>
      Promise.resolve(deadline!.remainingMs),
    );
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(2_000);
  });
});
