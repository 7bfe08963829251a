import type { SystemDatabase } from './gateway/system-database.js';
import { Instances } from './instances.js';
import type { SessionContext } from './connection/session-context.js';

function instances(found: number, preparesStatements = true): Instances {
  const read = () => Promise.resolve([{ instances: found }]);
  return new Instances(
    { read } as unknown as SystemDatabase,
    { preparesStatements } as SessionContext,
  );
}

describe('mayShareDatabase', () => {
  it.each([
    ['one server', false, instances(1)],
    ['two servers', true, instances(2)],
    ['servers behind a pooler, which hides names', true, instances(1, false)],
  ])('for %s: %s', async (_, expected, found) => {
    expect(await found.mayShareDatabase()).toBe(expected);
  });

  it('is true when the lookup fails', async () => {
    const database = { read: () => Promise.reject(new Error('unavailable')) };
    const failing = new Instances(
      database as unknown as SystemDatabase,
      { preparesStatements: true } as SessionContext,
    );
    expect(await failing.mayShareDatabase()).toBe(true);
  });
});
