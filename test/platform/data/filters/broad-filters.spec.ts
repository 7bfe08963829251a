import { Deadline, UnlimitedTimeBudget } from '../../../../src/platform/data/gateway/policies.js';
import { createLead, errorOf, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { captureLog, linesOf } from '../../../support/captured-log.js';

/** The number of the level in the log. */
const WARN = 40;

/** A scan has less time than folding the names of all leads takes, and much more than opening a connection. */
class LittleTime extends UnlimitedTimeBudget {
  override startScan(): Deadline {
    return new Deadline(2_000);
  }
}

/** Takes as long as a fold of many long names. */
const SLOW_FOLD = `create or replace function latitude_fold(value text) returns text
  language plpgsql immutable parallel safe
  as $$ begin perform pg_sleep(0.05); return lower(value); end $$`;

const log = captureLog('warn');

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await TestApp.start({ timeBudget: new LittleTime() });
  tenant = await app.organization();
  const { id } = await createLead(tenant.api, { status: 'new' });
  await app.sql(
    `insert into leads select (jsonb_populate_record(lead, jsonb_build_object('id', gen_random_uuid(),
       'email', null, 'email_compared', null, 'phone', null,
       'phone_compared', null))).* from leads lead, generate_series(1, 200) where id = $1`,
    [id],
  );
  await app.sql(SLOW_FOLD);
});
afterAll(() => app.stop());

const list = (filter: object, more = '') =>
  tenant.api.get(`${LEADS}?filter=${encodeURIComponent(JSON.stringify(filter))}${more}`);

describe('a filter that takes too long', () => {
  const broad = {
    first_name: { contains: 'か' },
    or: [{ 'custom_fields.roof_age': 7 }, { last_name: { starts_with: 'か' } }],
  };

  it.each([
    ['a page', ''],
    ['a page by cursor', '&after='],
  ])(
    'is refused as a whole, and names the conditions that no index serves: %s',
    async (_, more) => {
      const answer = await list(broad, more);
      expect(answer.status).toBe(422);
      const { code, retryable, message, details } = errorOf(answer);
      expect({ code, retryable }).toEqual({ code: 'filter_too_broad', retryable: false });
      expect(message).toContain('created_at');
      const field = (path: string) => details?.find((each) => each.field === path)?.message;
      expect(details).toHaveLength(3);
      expect(field('filter.first_name.contains')).toBe('is a condition that no index serves');
      expect(field('filter.or[1].last_name.starts_with')).toBeDefined();
      const [line] = linesOf(log, answer);
      expect(line).toMatchObject({ level: WARN, msg: 'a database statement failed' });
      const path = 'filter.or[0].custom_fields.roof_age';
      expect(field(path)).toContain('make the custom field filterable');
    },
  );

  it('is answered with a condition that an index serves and that few records match', async () => {
    const answer = await list({ ...broad, created_at: { lt: '2000-01-01' } });
    expect(answer.body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  it('holds up neither simple lists nor filters that indexes serve', async () => {
    const answer = await list({ status: 'new' }, '&limit=1');
    expect(answer.body).toMatchObject({ meta: { total: 201 } });
  });
});
