import { randomUUID } from 'node:crypto';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { databaseOf } from '../../../../src/testing/databases.js';
import { captureLog } from '../../../support/captured-log.js';

// Broken on purpose for docs/operating/runbook.md#connections-are-exhausted

describe('DATABASE_MAX_CONNECTIONS', () => {
  const lines = captureLog();

  it.each([5, 24])('of %d is sufficient and never exceeded under load', async (most) => {
    const app = await TestApp.start({
      settings: { databaseMaxConnections: most },
    });
    const { api } = await app.organization();
    const { id } = await createLead(api);
    const request = (n: number) =>
      [
        () => api.get(`${LEADS}/${id}`),
        () => api.post(LEADS, { first_name: `n${n}` }),
        () =>
          api.post(LEADS, { first_name: 'n' }, { headers: { 'Idempotency-Key': randomUUID() } }),
        () => api.put(`${LEADS}/${id}`, { notes: `n${n}` }),
        () => api.get(`${LEADS}?search=n${n}`),
      ][n % 5]!();
    let isOver = false;
    const counts: number[] = [];
    const count = async () => {
      while (!isOver) {
        const [row] = await app.sql<{ open: number }>(
          `select count(*)::int as open from pg_stat_activity
           where datname = current_database() and application_name like 'latitude%'`,
        );
        counts.push(row!.open);
      }
    };
    const counting = count();
    for (let round = 0; round < 5; round++) {
      const [answers] = await Promise.all([
        Promise.all(Array.from({ length: 60 }, (_, n) => request(n))),
        // On a busy machine, the database may not answer a probe in time.
        ...Array.from({ length: 10 }, () => api.get('/health/ready')),
      ]);
      expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
    }
    isOver = true;
    await counting;
    expect(Math.max(...counts)).toBeLessThanOrEqual(most);
    expect(Math.max(...counts)).toBeGreaterThan(most / 2);
    await app.stop();
  });

  it('above the limit of the database logs one warning at startup', async () => {
    const first = await TestApp.start();
    const warnings = () => lines.filter((line) => line.includes('DATABASE_MAX_CONNECTIONS'));
    await first.sql(`alter database ${databaseOf(first.database)} connection limit 60`);
    const start = async (databaseMaxConnections: number) => {
      const settings = { databaseMaxConnections, logLevel: 'warn' } as const;
      await (await TestApp.start({ settings, database: first.database })).stop();
    };
    await start(60);
    expect(warnings()).toEqual([]);
    await start(61);
    const warning = 'up to 61 connections, but the database allows 60';
    expect(warnings()).toEqual([expect.stringContaining(warning)]);
    await first.stop();
  });
});
