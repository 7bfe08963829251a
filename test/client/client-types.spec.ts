import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { minifySync } from '@swc/core';
import type {
  Appointment,
  ErrorCode,
  LatitudeError,
  LatitudeClient,
  Lead,
  LeadFilter,
} from '../../src/client/index.js';

const FOLDER = path.resolve('src/client');

describe('the types of the client', () => {
  // The type check of the project runs this test: a line without its expected error fails it.
  it('reject wrong fields, values and query parameters at compile time', () => {
    const uses = (client: LatitudeClient) => {
      void client.leads.create({ first_name: 'Ada' }).then((lead: Lead) => lead.lead_score);
      void client.leads.list({ tag: ['a'] }).then(({ data, meta }) => [data[0]?.email, meta.total]);
      void client.leads.list({ fields: '*' }).then(({ data }) => [data[0]?.id, data[0]?.notes]);
      void client.leads.list({ after: '' }).then(({ meta }) => [meta.next, meta.has_more]);
      void client.leads.list({ after: '' }).then(({ meta }) => {
        // @ts-expect-error a page by cursor has no total
        const total: unknown = meta.total;
        return total;
      });
      // @ts-expect-error unknown filter
      void client.leads.list({ after: '', limit: 1, colour: 'red' });
      // @ts-expect-error unknown filter
      void client.leads.list({ limit: 1, colour: 'red' });
      // @ts-expect-error first_name is required
      void client.leads.create({ last_name: 'Lovelace' });
      // @ts-expect-error unknown field
      void client.leads.create({ first_name: 'Ada', fist_name: 'Ada' });
      // @ts-expect-error not a temperature
      void client.leads.update('id', { temperature: 'tepid' });
      // @ts-expect-error lead_id cannot be changed
      void client.appointments.update('id', { lead_id: 'other' });
      // @ts-expect-error unknown filter
      void client.tasks.list({ colour: 'red' });
      // @ts-expect-error resources are not counted
      void client.resources.counts;
      // @ts-expect-error hours are by weekday
      void client.resources.create({ name: 'Crew', hours: { mon: [] } });
      // @ts-expect-error holds are not listed
      void client.holds.list;
      // @ts-expect-error appointments are cancelled and not deleted
      const cancel: unknown = client.appointments.delete;
      void client.appointments.get('id').then(({ status }) => {
        const known: Appointment['status'] = status;
        // @ts-expect-error not a status
        return known === 'lost';
      });
      const leadsOf = ({ details }: LatitudeError) => [
        details[0]?.count,
        details[0]?.lead_ids?.[0],
      ];
      const code = 'duplicate' satisfies ErrorCode;
      // @ts-expect-error unknown error code
      const unknown: ErrorCode = 'lost';
      return [code, unknown, cancel, leadsOf];
    };
    expect(uses).toBeInstanceOf(Function);
  });
});

describe('the types of filters', () => {
  it('allow what the server takes, and reject unknown fields, operators and values at compile time', () => {
    const uses = ({ leads, appointments, tasks, customFields }: LatitudeClient) => {
      const filter: LeadFilter = {
        temperature: 'hot',
        source: { in: ['website', 'referral'], ne: 'import' },
        lead_score: { gte: 20, lt: 40 },
        created_at: { lt: '2026-01-01' },
        tags: { has_any: ['roof'], is_empty: false },
        company: null,
        custom_fields: { is_empty: false },
        'custom_fields.roof_age': { gte: 20, ne: 'unknown' },
        'custom_fields.a.b': true,
        or: [{ city: 'Graz' }, { not: { zip: { starts_with: '80' } } }],
        tasks: { none: { status: 'open', or: [{ due_date: { lt: '2026-01-01' } }] } },
        appointments: { some: { type: { contains: 'visit' } } },
      };
      const queries = [leads.list({ filter }), leads.export({ filter }), leads.all({ filter })];
      void leads.counts({ by: 'custom_fields.roof_age', filter });
      void leads.list({ filter, after: '', fields: '*' }).then(({ meta }) => meta.next);
      void tasks.counts({ by: 'due_day', filter: { lead: { 'custom_fields.roof_age': 20 } } });
      void appointments.list({ filter: { status: { ne: 'cancelled' }, lead: { city: 'Graz' } } });
      void leads.merge('id', { lead_id: 'id', dry_run: true }).then(({ moves }) => moves.tasks);
      void leads.merge('id', { lead_id: 'id' }).then(({ first_name }) => first_name);
      // @ts-expect-error unknown field
      void leads.list({ filter: { colour: 'red' } });
      // @ts-expect-error unknown field deep inside
      void leads.list({ filter: { or: [{ city: 'Graz' }, { not: { colour: 'red' } }] } });
      // @ts-expect-error not a temperature
      void leads.list({ filter: { temperature: { in: ['hot', 'tepid'] } } });
      // @ts-expect-error text has no order
      void leads.export({ filter: { city: { gt: 'Graz' } } });
      // @ts-expect-error notes are not searchable
      void leads.all({ filter: { notes: { contains: 'slate' } } });
      // @ts-expect-error a number is compared with numbers
      void leads.list({ filter: { lead_score: { gte: '20' } } });
      // @ts-expect-error tags are a set
      void leads.list({ filter: { tags: { in: ['roof'] } } });
      // @ts-expect-error in takes an array
      void leads.list({ filter: { city: { in: 'Graz' } } });
      // @ts-expect-error values of custom fields are scalars
      void leads.list({ filter: { 'custom_fields.roof': { eq: { age: 20 } } } });
      // @ts-expect-error a lead has many tasks
      void leads.list({ filter: { tasks: { status: 'open' } } });
      // @ts-expect-error a task has one lead
      void tasks.list({ filter: { lead: { some: { city: 'Graz' } } } });
      // @ts-expect-error relations are one level deep
      void tasks.list({ filter: { lead: { tasks: { none: { status: 'open' } } } } });
      // @ts-expect-error tasks have no custom fields
      void tasks.list({ filter: { 'custom_fields.roof_age': 20 } });
      // @ts-expect-error leads are not counted by notes
      void leads.counts({ by: 'notes' });
      // @ts-expect-error by is required
      void appointments.counts({ filter: { status: 'scheduled' } });
      // @ts-expect-error not a type of custom fields
      void customFields.create({ key: 'roof_age', type: 'integer' });
      // @ts-expect-error the key cannot be changed
      void customFields.update('id', { key: 'roof_age' });
      // @ts-expect-error a lead has nothing to include
      void leads.get('id', { include: 'lead' });
      return queries;
    };
    expect(uses).toBeInstanceOf(Function);
  });
});

describe('the snippets of the documentation', () => {
  const NAMES = `
    import {
      etagOf, LatitudeClient, LatitudeError, type Lead, type LeadBatchItem, type LeadFilter, type RecordEvent, type SyncPage, type SyncState,
    } from 'latitude-client';
    declare const client: LatitudeClient;
    declare const id: string;
    declare const resources: string[];
    declare const leads: { external_id: string; first_name: string }[];
    declare function position(): Promise<string | undefined>;
    declare function handle(record: RecordEvent['record']): Promise<void>;
    declare function storePosition(id: string): Promise<void>;
    declare const stored: SyncState | undefined;
    declare function store(page: SyncPage<Lead>): Promise<void>;
    void [stored, store, etagOf, LatitudeError, client, id, leads, resources, position, handle, storePosition];`;
  const OPTIONAL = `
    import type { LatitudeClient } from 'latitude-client';
    export const calls = (client: LatitudeClient, text: string | undefined, ms: number | undefined) => [
      client.leads.create({ first_name: 'Ada', email: text }, { idempotencyKey: text, timeoutMs: ms }),
      client.tasks.update('id', { title: text }, { maxAttempts: ms }),
      client.appointments.all({ lead_id: text, limit: ms }),
      // @ts-expect-error first_name is required
      client.leads.create({ first_name: text }),
    ];`;
  // Those that `tsc --init` writes and that make a difference here.
  const OPTIONS = {
    module: 'nodenext',
    target: 'esnext',
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [path.resolve('node_modules/@types')],
    paths: { 'latitude-client': [path.resolve('dist/client/index.d.ts')] },
  };
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'latitude-snippets-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('compile, as do optional properties that are undefined, with the options of tsc --init', () => {
    const documents = ['README.md', 'docs/client.md', 'docs/guides/integrator.md'];
    const snippets = documents
      .flatMap((name) => [...readFileSync(name, 'utf8').matchAll(/^```ts\n(.*?)^```/gms)])
      .map(([, code = '']) => code)
      .filter((code) => /\bclient\./.test(code))
      .map((code) => (code.startsWith('import') ? code : `${NAMES}\n{${code}}\n`));
    expect(snippets.length).toBeGreaterThanOrEqual(5);
    const write = (name: string, text: string) => {
      writeFileSync(path.join(folder, name), text);
    };
    for (const [index, code] of [...snippets, OPTIONAL].entries()) write(`${index}.ts`, code);
    write('package.json', '{ "type": "module" }');
    write('tsconfig.json', JSON.stringify({ compilerOptions: OPTIONS }));
    const { stdout } = spawnSync(
      path.resolve('node_modules/.bin/tsc'),
      ['--pretty', 'false', '-p', folder],
      {
        encoding: 'utf8',
        shell: process.platform === 'win32',
      },
    );
    expect(stdout).toBe('');
  });
});

describe('the package of the client', () => {
  const sources = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));

  it('imports only its own files', () => {
    const imported = sources
      .flatMap((name) => [
        ...readFileSync(path.join(FOLDER, name), 'utf8').matchAll(
          /^(?:import|export) .*from '(.+)'/gm,
        ),
      ])
      .map(([, from]) => from);
    expect(imported.length).toBeGreaterThan(5);
    expect(imported.filter((from) => !from!.startsWith('./'))).toEqual([]);
  });

  it('has at most 6 KiB, minified and compressed', () => {
    const built = path.resolve('dist/client');
    const code = readdirSync(built)
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(path.join(built, name), 'utf8'))
      .map((text) => minifySync(text, { module: true, compress: true, mangle: true }).code);
    expect(gzipSync(code.join('\n')).length).toBeLessThanOrEqual(6 * 1024);
  });

  it('loads from the built package by its name', () => {
    const script = `import { LatitudeClient } from 'latitude/client';
      new LatitudeClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'lat_k' });
      process.stdout.write('ok');`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect([stdout, stderr]).toEqual(['ok', '']);
  });
});
