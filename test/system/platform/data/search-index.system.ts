import type { DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { captureLog } from '../../../support/captured-log.js';
import { createDatabaseWithPlainOwner, queryAs } from '../../../support/database/plain-owner.js';

// Tests the failure that docs/operating/runbook.md#searches-or-lists-are-slow describes.

const REMEDY = 'alter function pg_catalog.textlike(text, text) leakproof';
const LOSE_MARK = 'alter function pg_catalog.textlike(text, text) not leakproof';

const lines = captureLog();

/** Starts an instance on this database and returns its warnings about search. */
async function warningsOfStart(database: DatabaseTarget): Promise<string[]> {
  const before = lines.length;
  const app = await TestApp.start({ database, settings: { logLevel: 'warn' } });
  await app.stop();
  const messages = lines.slice(before).map((line) => (JSON.parse(line) as { msg: string }).msg);
  return messages.filter((message) => message.startsWith('Search'));
}

describe('startup when row-level security prevents the use of the search index', () => {
  it('logs one warning with the required statement for a user who is not a superuser', async () => {
    const database = await createDatabaseWithPlainOwner();
    const warnings = await warningsOfStart(database);
    expect(warnings).toEqual([expect.stringContaining(REMEDY)]);
    await dropDatabase(database);
  });

  it('marks the function as leakproof for a superuser, for example after a restore', async () => {
    const database = await createDatabase();
    await queryAs(database, LOSE_MARK);
    expect(await warningsOfStart(database)).toEqual([]);
    const marked = `do $$ begin
      assert (select proleakproof from pg_proc where oid = 'textlike(text, text)'::regprocedure);
    end $$`;
    await queryAs(database, marked);
    await dropDatabase(database);
  });

  it('logs no warning if a superuser has run the statement', async () => {
    const database = await createDatabase();
    await queryAs(database, REMEDY);
    expect(await warningsOfStart(database)).toEqual([]);
    await dropDatabase(database);
  });
});
