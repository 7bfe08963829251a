import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import {
  type BackupHeader,
  BackupReader,
  type BackupTable,
  encodeBackup,
} from '../../../../src/ops/backup/backup-file.js';
import { writeBackup } from '../../../../src/ops/backup/write-backup.js';
import { type DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import {
  USERS,
  startFilled,
  backUp,
  expectCountersToHold,
  rowsByTable,
  restore,
  constraintsAndTriggersOf,
  temporaryFile,
  withoutProgress,
} from '../../../support/database/backups.js';
import type { ApiClient } from '../../../../src/testing/api-client.js';
import { createLead, dataOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { createDatabase } from '../../../../src/testing/databases.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  asSuperuser,
  createDatabaseWithPlainOwner,
  queryAs,
} from '../../../support/database/plain-owner.js';

const APPOINTMENTS = '/api/v1/appointments';
const TIMES = { start_time: '2026-03-01T10:00:00Z', end_time: '2026-03-01T11:00:00Z' };

const PAIRS = [
  ['a superuser', 'a plain owner with the tenant role'],
  ['a plain owner with the tenant role', 'a plain owner without the tenant role'],
  ['a plain owner without the tenant role', 'a superuser'],
] as const;

/** Adds enough leads with an appointment each that a backup needs several writes. */
function addLeads(app: TestApp, { id }: Tenant, count: number) {
  return app.sql(
    `with added as (
       insert into leads (organization_id, id, first_name, status, source, tags, custom_fields,
         lead_score, sms_opted_out, on_dnc_list)
       select $1, gen_random_uuid(), gen_random_uuid()::text, 'new', 'api', '{}', '{}', 0, false, false
       from generate_series(1, $2::int) returning organization_id, id)
     insert into appointments (organization_id, id, lead_id, start_time, end_time, status, booked_by)
     select organization_id, gen_random_uuid(), id, now(), now() + interval '1 hour', 'scheduled', 'api'
     from added`,
    [id, count],
  );
}

/** Defines a filterable and a unique field, and creates a lead with values. */
async function addDefinedFields(app: TestApp, { id }: Tenant): Promise<void> {
  const { api } = await app.key(id, ['fields:write', 'leads:write']);
  const fields = [
    { key: 'since', type: 'date', filterable: true },
    { key: 'serial', type: 'text', unique: true },
  ];
  for (const field of fields) {
    dataOf(await api.post('/api/v1/custom-fields', { label: field.key, ...field }), 201);
  }
  const custom_fields = { since: '2026-03-01', serial: 'a' };
  await createLead(api, { first_name: 'Since', custom_fields });
}

async function expectDefinedFieldsToWork(api: ApiClient): Promise<void> {
  const serial = 'b';
  await createLead(api, { custom_fields: { since: '2026-02-28', serial } });
  const filter = JSON.stringify({ 'custom_fields.since': { gte: '2026-03-01' } });
  const found = await api.get(`${LEADS}?filter=${encodeURIComponent(filter)}`);
  expect(dataOf(found)).toMatchObject([{ first_name: 'Since' }]);
  for (const taken of ['a', serial]) {
    const lead = { first_name: 'Ada', custom_fields: { serial: taken } };
    expectError(await api.post(LEADS, lead), 409, 'duplicate');
  }
}

describe('a backup and its restore', () => {
  it.each(PAIRS)('copy every row from the database of %s to that of %s', async (from, to) => {
    const [source, target] = await Promise.all([USERS[from]!(), USERS[to]!()]);
    const { app, tenants } = await startFilled(source);
    for (const tenant of tenants) await addDefinedFields(app, tenant);
    const { file, header } = await backUp(source);
    const before = await rowsByTable(source);
    const numbers = Object.fromEntries(header.tables.map(({ name, rows }) => [name, rows]));
    expect(numbers).toEqual(
      Object.fromEntries(Object.entries(before).map(([name, rows]) => [name, rows.length])),
    );
    expect(numbers.leads).toBeGreaterThanOrEqual(2);

    await restore(target, file);
    expect(await rowsByTable(target)).toEqual(before);
    expect(await constraintsAndTriggersOf(target)).toEqual(await constraintsAndTriggersOf(source));

    const restored = await TestApp.start({ database: target });
    await expectCountersToHold(restored, tenants);
    for (const { key } of tenants) {
      const api = restored.client(key.key);
      const { status, body } = await api.get(LEADS);
      expect([status, body.meta.total]).toEqual([200, numbers.leads! / 2]);
      expect((await api.post(LEADS, { first_name: 'New' })).status).toBe(201);
      await expectDefinedFieldsToWork(api);
    }
    await Promise.all([app.stop(), restored.stop()]);
  });

  it('contain one snapshot while other clients write', async () => {
    const source = await createDatabase();
    const { app, tenants } = await startFilled(source);
    const [tenant] = tenants;
    await addLeads(app, tenant, 2_000);
    const before = await rowsByTable(source);
    const chunks: Buffer[] = [];
    const busy = new Writable({
      write(chunk: Buffer, _, done) {
        chunks.push(chunk);
        void writeMore(tenant).then(() => {
          done();
        }, done);
      },
    });
    await writeBackup(source, busy, withoutProgress);
    expect(chunks.length).toBeGreaterThan(5);
    const file = temporaryFile();
    await writeFile(file, Buffer.concat(chunks));

    const target = await createDatabase();
    await restore(target, file);
    expect(await rowsByTable(target)).toEqual(before);
    const restored = await TestApp.start({ database: target });
    await expectCountersToHold(restored, tenants);
    await Promise.all([app.stop(), restored.stop()]);
  });

  it('work while a server runs on the empty database', async () => {
    const [source, target] = await Promise.all([createDatabase(), createDatabase()]);
    const { app, tenants } = await startFilled(source);
    const { file } = await backUp(source);
    const running = await TestApp.start({ database: target });
    const refused = await running.client(tenants[0].key.key).get(LEADS);
    expect(refused.status).toBe(401);
    await restore(target, file);
    const other = running.client(tenants[1].key.key);
    expect((await other.get(LEADS)).status).toBe(200);
    await createLead(other);
    await expectCountersToHold(running, tenants);
    await Promise.all([app.stop(), running.stop()]);
  });

  it('preserve special characters and times of every year', async () => {
    const source = await createDatabase();
    const { app, tenants } = await startFilled(source);
    const notes =
      'tab\t, line\n, return\r, backslash \\N \\. \\n, quote \', "; \u{1f600} \u2028 \x01';
    await createLead(tenants[0].api, {
      notes,
      tags: ['{a,"b"}', '\\'],
      custom_fields: { a: '\\u0041' },
    });
    const task = { title: '\\.', due_date: '0001-01-01' };
    expect((await tenants[0].api.post('/api/v1/tasks', task)).status).toBe(201);
    const target = await createDatabase();
    await restore(target, (await backUp(source)).file);
    expect(await rowsByTable(target)).toEqual(await rowsByTable(source));
    await app.stop();
  });
});

describe('a backup that cannot contain every row', () => {
  it('is rejected if another kind of policy hides rows from the user', async () => {
    const source = await createDatabaseWithPlainOwner();
    const { app } = await startFilled(source);
    await queryAs(source, 'create policy mine on leads as restrictive using (first_name = $$x$$)');
    await expect(backUp(source)).rejects.toThrow(/hides rows of leads.*BYPASSRLS/);
    await expect(backUp(asSuperuser(source))).resolves.toBeDefined();
    await app.stop();
  });

  it('is rejected if there are no tables', async () => {
    const source = await createDatabase('empty');
    await expect(backUp(source)).rejects.toThrow('no tables of Latitude');
  });
});

describe('a restore that fails leaves the database empty', () => {
  let app: TestApp;
  let file: string;
  let header: BackupHeader;
  let target: DatabaseTarget;
  let rules: object[];
  /** The rows that a server writes at startup. */
  let initial: Record<string, string[]>;

  beforeAll(async () => {
    const source = await createDatabase();
    const filled = await startFilled(source);
    app = filled.app;
    await addLeads(app, filled.tenants[0], 2_000);
    ({ file, header } = await backUp(source));
    target = await createDatabaseWithPlainOwner();
    const empty = await TestApp.start({ database: target });
    await empty.stop();
    rules = await constraintsAndTriggersOf(target);
    initial = await rowsByTable(target);
  });
  afterAll(() => app.stop());

  async function expectNothingRestored() {
    expect(await rowsByTable(target)).toEqual(initial);
    expect(await constraintsAndTriggersOf(target)).toEqual(rules);
  }

  it.each([0.999, 0.5, 0])('if the file ends after %d of its length', async (share) => {
    const bytes = await readFile(file);
    const cut = temporaryFile();
    await writeFile(cut, bytes.subarray(0, Math.floor(bytes.length * share)));
    await expect(restore(target, cut)).rejects.toThrow('is cut off');
    await expectNothingRestored();
  });

  it.each([0.999_99, 0.5, 0.1])('if a byte at %d of the file was changed', async (share) => {
    const bytes = await readFile(file);
    const at = Math.floor(bytes.length * share);
    bytes[at] = bytes[at]! ^ 0x10;
    const damaged = temporaryFile();
    await writeFile(damaged, bytes);
    await expect(restore(target, damaged)).rejects.toThrow(/is (damaged|cut off)/);
    await expectNothingRestored();
  });

  it('for a file that is not a backup', async () => {
    for (const bytes of [
      Buffer.from('PGDMP and more text'),
      gzipSync('some text, and more of it'),
    ]) {
      const other = temporaryFile();
      await writeFile(other, bytes);
      await expect(restore(target, other)).rejects.toThrow('is no backup');
    }
  });

  it('if PostgreSQL rejects a row in the middle', async () => {
    const forged = await forge(header, ({ name, rows }) =>
      name === 'leads' ? `${'\\N\t'.repeat(30)}\n`.repeat(rows) : undefined,
    );
    await expect(restore(target, forged)).rejects.toThrow();
    await expectNothingRestored();
  });

  it('if a foreign key is violated', async () => {
    const changed = withRows(header, { leads: 0 });
    const forged = await forge(changed, ({ name }) => (name === 'leads' ? '' : undefined));
    await expect(restore(target, forged)).rejects.toThrow('foreign key');
    await expectNothingRestored();
  });

  it('if there are fewer rows than the header says', async () => {
    const changed = withRows(header, { tasks: 1_000 });
    const forged = await forge(changed, () => undefined);
    await expect(restore(target, forged)).rejects.toThrow('of 1000 rows of tasks');
    await expectNothingRestored();
  });

  it('and able to accept a complete backup', async () => {
    await restore(target, file);
    const names = ['leads', 'appointments', 'organizations'];
    const contents = await rowsByTable(target);
    for (const { name, rows } of header.tables.filter((table) => names.includes(table.name))) {
      expect(contents[name]).toHaveLength(rows);
    }
    await expect(restore(target, file)).rejects.toThrow(/not empty \(organizations\).*empty one/);
  });

  /** Returns a backup with the rows of the file, except for tables with a replacement. */
  async function forge(
    changed: BackupHeader,
    replacement: (table: BackupTable) => string | undefined,
  ): Promise<string> {
    const reader = await BackupReader.open(createReadStream(file));
    async function* rowsOf(table: BackupTable) {
      const original = header.tables.find(({ name }) => name === table.name)!;
      const text = replacement(table);
      for await (const chunk of reader.rows(original)) if (text === undefined) yield chunk;
      if (text) yield Buffer.from(text);
    }
    const forged = temporaryFile();
    const parts = await Readable.from(encodeBackup(changed, changed.tables.map(rowsOf))).toArray();
    await writeFile(forged, gzipSync(Buffer.concat(parts as Buffer[])));
    return forged;
  }
});

async function writeMore({ api }: Tenant): Promise<void> {
  const { id: lead_id } = await createLead(api, { status: 'won' });
  await api.post(APPOINTMENTS, { lead_id, ...TIMES });
}

function withRows(header: BackupHeader, rows: Record<string, number>): BackupHeader {
  const tables = header.tables.map((table) => ({ ...table, rows: rows[table.name] ?? table.rows }));
  return { ...header, tables };
}
