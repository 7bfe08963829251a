import { generateKey } from '../../../src/platform/access/api-key-format.js';
import { BatchConnections } from '../../../src/platform/data/gateway/batch-connections.js';
import type { Answer } from '../../../src/testing/api-client.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { createLead, errorOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { routeName, SCOPED_ROUTES, send, validRequest } from '../../../src/testing/routes.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { until } from '../../support/servers/product.js';

describe('a database failure', () => {
  let broken: TestApp;
  let owner: Tenant;

  beforeAll(async () => {
    broken = await TestApp.start();
    owner = await broken.organization();
  });
  afterAll(() => broken.stop());

  const DRIVER_TEXT = /relation|permission|denied|terminat|administrator|sqlstate|leads|pg_|stack/i;

  function expectFailure(answer: Answer, code: 'query_failed' | 'create_failed'): void {
    expectEnvelope(answer, { status: 500, code, retryable: true });
    expect(errorOf(answer).message).not.toMatch(DRIVER_TEXT);
  }

  it.each(SCOPED_ROUTES.map((route) => [routeName(route), route] as const))(
    'causes a 500 from %s, which works again afterwards',
    async (_, route) => {
      const valid = await validRequest(route, owner);
      await broken.sql('revoke all on all tables in schema public from latitude_app');
      const failed = await send(owner.api, route, valid);
      await broken.sql(
        'grant select, insert, update, delete on all tables in schema public to latitude_app',
      );
      expectFailure(failed, route.method === 'GET' ? 'query_failed' : 'create_failed');
      expect((await send(owner.api, route, valid)).status).toBeLessThan(300);
    },
  );

  it('is a 500 while a table is missing', async () => {
    const { id } = await createLead(owner.api);
    await broken.sql('alter table leads rename to gone');
    const failed = await callAll(id);
    await broken.sql('alter table gone rename to leads');
    expectFailures(failed);
    expectSuccesses(await callAll(id));
  });

  it('is a 500 if connections are terminated during statements', async () => {
    const { id } = await createLead(owner.api);
    const lock = await broken.app.get(BatchConnections).background.connect();
    await lock.query('begin');
    await lock.query('lock table leads in access exclusive mode');
    let isAnswered = false;
    const answers = callAll(id).finally(() => (isAnswered = true));
    // Repeatedly, because a statement that waits too long for a lock is retried on another connection.
    await until(async () => {
      await broken.sql(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
      return isAnswered;
    });
    expectFailures(await answers);
    await lock.query('rollback');
    lock.release();
    expectSuccesses(await callAll(id));
  });

  it('is recovered from after all idle connections are terminated', async () => {
    await Promise.all(Array.from({ length: 20 }, () => owner.api.get(LEADS)));
    await broken.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await until(async () => {
      const answer = await owner.api.get(LEADS);
      if (answer.status !== 200) expectFailure(answer, 'query_failed');
      return answer.status === 200;
    });
    const { id } = await createLead(owner.api);
    expectSuccesses(await callAll(id));
  });

  it('during the key lookup is a 500 with rate limit headers, not a 401', async () => {
    const unseen = await broken.key(owner.id);
    await broken.sql('alter table api_keys rename to gone');
    const answers = [
      await unseen.api.get(LEADS),
      await unseen.api.post(LEADS, { first_name: 'A' }),
      await broken.client(generateKey()).get('/api/v1/nothing'),
    ];
    const badKey = await broken.client('lat_x').get(LEADS);
    await broken.sql('alter table gone rename to api_keys');
    const codes = ['query_failed', 'create_failed', 'query_failed'] as const;
    for (const [index, answer] of answers.entries()) {
      expectFailure(answer, codes[index]!);
      expect(answer.headers.get('ratelimit-reset')).toMatch(/^\d{10}$/);
    }
    expectError(badKey, 401, 'unauthorized');
    expect(await unseen.api.get(LEADS)).toMatchObject({ status: 200 });
  });

  /** A list, a create, an update and a delete of a lead, all at once. */
  function callAll(id: string): Promise<Answer[]> {
    return Promise.all([
      owner.api.get(LEADS),
      owner.api.post(LEADS, { first_name: 'A' }),
      owner.api.put(`${LEADS}/${id}`, { company: 'B' }),
      owner.api.delete(`${LEADS}/${id}`),
    ]);
  }

  function expectFailures([list, ...writes]: Answer[]): void {
    expectFailure(list!, 'query_failed');
    for (const write of writes) expectFailure(write, 'create_failed');
  }

  function expectSuccesses([list, create, update, remove]: Answer[]): void {
    expect([list!.status, create!.status, remove!.status]).toEqual([200, 201, 200]);
    // The update can be executed after the delete.
    expect([200, 404]).toContain(update!.status);
  }
});
