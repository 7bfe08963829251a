import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { minifySync } from '@swc/core';
import type { Appointment, ErrorCode, Lead, LatitudeClient } from '../../src/client/index.js';

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
      // @ts-expect-error appointments are cancelled and not deleted
      const cancel: unknown = client.appointments.delete;
      void client.appointments.get('id').then(({ status }) => {
        const known: Appointment['status'] = status;
        // @ts-expect-error not a status
        return known === 'lost';
      });
      const code = 'duplicate' satisfies ErrorCode;
      // @ts-expect-error unknown error code
      const unknown: ErrorCode = 'lost';
      return [code, unknown, cancel];
    };
    expect(uses).toBeInstanceOf(Function);
  });
});

describe('the snippets of the documentation', () => {
  const NAMES = `
    import {
      etagOf, LatitudeClient, LatitudeError, type Lead, type LeadBatchItem, type RecordEvent, type SyncPage, type SyncState,
    } from 'latitude-client';
    declare const client: LatitudeClient;
    declare const id: string;
    declare const leads: { external_id: string; first_name: string }[];
    declare function position(): Promise<string | undefined>;
    declare function handle(record: RecordEvent['record']): Promise<void>;
    declare function storePosition(id: string): Promise<void>;
    declare const stored: SyncState | undefined;
    declare function store(page: SyncPage<Lead>): Promise<void>;
    void [stored, store, etagOf, LatitudeError, client, id, leads, position, handle, storePosition];`;
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
