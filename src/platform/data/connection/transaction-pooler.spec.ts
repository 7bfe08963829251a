import pg from 'pg';
import { type Connection, isTransactionPooled } from './transaction-pooler.js';

type Mode = 'session' | 'transaction' | 'statement';

/** Assigns server processes like a pooler. `order` decides which free process is next. */
class FakePooler {
  private readonly free: string[];

  constructor(
    private readonly mode: Mode,
    size: number,
    private readonly order: 'last' | 'first',
  ) {
    this.free = Array.from({ length: size }, (_, n) => `process ${n}`);
  }

  connect(): Connection {
    let held: string | undefined;
    let isInTransaction = false;
    const query = (text: string): { backend: string }[] => {
      if (text === 'begin') {
        if (this.mode === 'statement') throw new pg.DatabaseError('not allowed', 1, 'error');
        isInTransaction = true;
      }
      if (text === 'rollback') isInTransaction = false;
      held ??= this.order === 'last' ? this.free.pop() : this.free.shift();
      const backend = held;
      if (backend === undefined) throw new Error('no server connection is free');
      if (this.mode !== 'session' && !isInTransaction) {
        this.free.push(backend);
        held = undefined;
      }
      return [{ backend }];
    };
    return {
      query: <Row extends object>(text: string) => {
        const rows = query(text) as unknown as Row[];
        return Promise.resolve({ rows });
      },
    };
  }
}

const isPooled = (mode: Mode, size: number, order: 'last' | 'first') => {
  const pooler = new FakePooler(mode, size, order);
  return isTransactionPooled(pooler.connect(), pooler.connect());
};

describe('the check for a pooler in transaction mode', () => {
  const sizes = [1, 2, 3, 4, 7, 20];

  it.each(sizes)('detects one with %d server connections', async (size) => {
    for (const mode of ['transaction', 'statement'] as const) {
      for (const order of ['last', 'first'] as const) {
        expect([mode, order, await isPooled(mode, size, order)]).toEqual([mode, order, true]);
      }
    }
  });

  it.each(sizes.slice(1))('accepts session mode with %d server connections', async (size) => {
    expect(await isPooled('session', size, 'last')).toBe(false);
    expect(await isPooled('session', size, 'first')).toBe(false);
  });

  it('throws the error of a lost connection', async () => {
    await expect(isPooled('session', 1, 'last')).rejects.toThrow('no server connection is free');
  });
});
