import { Injectable, Module, type Type } from '@nestjs/common';
import { RecordRemoval } from '../../../../src/platform/data/records/record-removal.service.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { TenantDataService } from '../../../../src/platform/data/records/tenant-data.service.js';
import {
  TenantEntity,
  type TenantEntityOptions,
} from '../../../../src/platform/data/records/tenant-entity.js';
import { defineConfig } from '../../../../src/platform/extension/config.js';
import { defineExtension, type Extension } from '../../../../src/platform/extension/extension.js';
import type { OpenApiDocument } from '../../../../src/platform/http/openapi/model.js';
import { Lead } from '../../../../src/modules/leads/lead.entity.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { Uuid } from '../../../../src/platform/fields/kinds/kinds.js';
import { ListQuery, SortBy } from '../../../../src/platform/data/lists/list-query.js';
import { RecordList } from '../../../../src/platform/data/lists/record-list.js';
import { createDatabase, dropDatabase, urlOf } from '../../../../src/testing/databases.js';
import { createLead, dataOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { serve } from '../../../../src/ops/server/run.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { runCommand } from '../../../support/command-line.js';
import { backUp, restore, rowsByTable } from '../../../support/database/backups.js';
import { stopBackgroundWork } from '../../../support/database/isolation.js';
import { resultOf } from '../../../support/servers/product.js';
import { Note, Notes1800000000000, notesExtension } from './notes.extension.js';

const NOTES = '/api/v1/notes';

@Module({})
class EmptyModule {}

class TextQuery extends ListQuery {
  @SortBy(['due', 'text'], 'due') sort_by: string;
}

class DueQuery extends ListQuery {
  @SortBy(['due'], 'due') sort_by: string;
}

/** A module with a list of notes in the orders of a query. */
function listModule(query: Type<ListQuery>): Type<unknown> {
  @Injectable()
  class NotesList extends RecordList<IdDto> {
    constructor(database: TenantDatabase) {
      super(database, { entity: Note, item: IdDto, query });
    }
  }
  @Module({ providers: [NotesList] })
  class ListModule {}
  return ListModule;
}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ extensions: [notesExtension] });
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: app.scopes.every });
});
afterAll(() => app.stop());

async function createNote(status = 'open') {
  const lead = await createLead(tenant.api);
  const response = await tenant.api.post(NOTES, { lead_id: lead.id, text: 'Call', status });
  return { lead, note: dataOf<{ id: string }>(response, 201) };
}

describe('a route of an extension', () => {
  it('accepts a key with the scope of the extension', async () => {
    const { note } = await createNote();
    const { body } = await tenant.api.get(NOTES);
    expect(body).toMatchObject({ data: [{ id: note.id, status: 'open' }], meta: { total: 1 } });
  });

  it('refuses a key without it', async () => {
    const other = await app.key(tenant.id, ['leads:read']);
    expectError(await other.api.get(NOTES), 403, 'insufficient_scope');
  });

  it('answers an error code of the extension with its status', async () => {
    const env = { NOTES_PROVIDER_URL: 'https://down.example' };
    const down = await TestApp.start({ extensions: [notesExtension], env });
    try {
      const { api } = await down.organization();
      const lead = await createLead(api);
      const response = await api.post(NOTES, { lead_id: lead.id, text: 'Call' });
      expect(response).toMatchObject({
        status: 502,
        body: { error: { code: 'provider_unavailable', retryable: true } },
      });
    } finally {
      await down.stop();
    }
  });

  it('is in the OpenAPI document with its error code', async () => {
    const { body } = await app.client().get('/openapi.json');
    const { paths } = body as unknown as OpenApiDocument;
    expect(JSON.stringify(paths[NOTES])).toContain('ProviderUnavailable');
  });
});

describe('a table of an extension', () => {
  it('has exact totals for its counted columns', async () => {
    await createNote();
    await createNote('done');
    const { body } = await tenant.api.get(`${NOTES}?status=done`);
    expect(body).toMatchObject({ meta: { total: 1 } });
    expect(await app.app.get(TenantDataService).checkCounts({ tenant: { id: tenant.id } })).toEqual(
      [],
    );
  });

  it('loses the records of a purged lead', async () => {
    const { lead } = await createNote();
    await tenant.api.delete(`${LEADS}/${lead.id}`);
    const inAMinute = new Date(Date.now() + 60_000);
    const purged = await app.app.get(RecordRemoval).purge({ tenant: { id: tenant.id } }, inAMinute);
    expect(purged).toMatchObject({ leads: 1, notes: 1 });
  });

  const addNote = async (lead_id: string) =>
    dataOf<{ id: string }>(await tenant.api.post(NOTES, { lead_id, text: 'Call back' }), 201);

  it('gives its records to the lead into which another one is merged', async () => {
    const [target, source] = [await createLead(tenant.api), await createLead(tenant.api)];
    await addNote(target.id);
    await addNote(source.id);
    const path = `${LEADS}/${target.id}/merge`;
    await app.sql('create unique index one_note on notes (organization_id, lead_id)');
    const refused = await tenant.api.post(path, { lead_id: source.id });
    await app.sql('drop index one_note');
    expectError(refused, 409, 'duplicate');
    dataOf(await tenant.api.post(path, { lead_id: source.id }));
    const notes = dataOf<{ lead_id: string }[]>(await tenant.api.get(NOTES));
    expect(notes.map(({ lead_id }) => lead_id)).toEqual([target.id, target.id]);
  });

  it('is part of the data of a person, and loses its records with an erasure', async () => {
    const { id } = await createLead(tenant.api);
    const note = await addNote(id);
    const kept = await addNote((await createLead(tenant.api)).id);
    const data = dataOf<object>(await tenant.api.get(`${LEADS}/${id}/personal-data`));
    expect(data).toMatchObject({ other_records: { notes: [note] } });
    dataOf(await tenant.api.post(`${LEADS}/${id}/erase`, undefined));
    expect(dataOf(await tenant.api.get(NOTES))).toEqual([kept]);
  });

  it('refuses a lead of another organization', async () => {
    const { lead } = await createNote();
    const other = await app.organization();
    const response = await other.api.post(NOTES, { lead_id: lead.id, text: 'Call' });
    expectError(response, 404, 'lead_not_found');
  });

  it('makes startup fail if it does not exist', async () => {
    await expect(startWith(entity('absent'))).rejects.toThrow(
      'The entity absent maps the table absent, which does not exist. Add a migration that creates it.',
    );
  });

  it('makes startup fail with a list of all missing parts', async () => {
    await app.sql('create table half (organization_id uuid, id uuid, lead_id uuid)');
    const half = entity('half', {
      counted: ['status'],
      references: { lead_id: { entity: () => Lead, onDelete: 'cascade' } },
    });
    await expect(startWith(half)).rejects.toThrow(
      'The entity half maps the columns deleted_at, which the table half lacks.',
    );
    await app.sql('alter table half add deleted_at timestamptz(3)');
    await expect(startWith(half)).rejects.toThrow(
      'the table half lacks the column status, the column created_at, ' +
        'the primary key (organization_id, id), forced row-level security with the policy of ' +
        'organizations, the foreign key (organization_id, lead_id) to leads with on delete cascade.',
    );
    await app.sql('drop table half');
  });

  it('makes startup fail with the missing index of a sort', async () => {
    const sorted = entity('notes', { sorts: ['text'] });
    await expect(startWith(sorted)).rejects.toThrow(
      'the table notes lacks the index of the sort text (create index notes_by_text on notes ' +
        '(organization_id, text, id) where deleted_at is null). Add a migration',
    );
  });

  it('needs an index of its own for the descending order of a nullable column', async () => {
    await app.sql('drop index notes_by_due_desc');
    const refused = await messageOf(startWith(Note));
    expect(refused).toContain('the table notes lacks the index of the sort due (create index');
    const [, remedy = ''] = /\((create index .* where deleted_at is null)\)/s.exec(refused) ?? [];
    await app.sql(remedy);
    await (await startWith(Note)).stop();
  });

  it('makes startup fail if a list has a sort that it does not declare', async () => {
    const starting = startWith(Note, listModule(TextQuery));
    await expect(starting).rejects.toThrow(
      "The list of notes has the sort text, but @TenantEntity('notes') does not. Add the column text to its sorts",
    );
    await (await startWith(Note, listModule(DueQuery))).stop();
  });

  it.each(['Messages', 'a b', 'messages; drop table leads'])('cannot be named %s', (name) => {
    expect(() => TenantEntity(name)).toThrow('is not a valid name');
  });

  async function messageOf(failure: Promise<unknown>): Promise<string> {
    const [result] = await Promise.allSettled([failure]);
    return result.status === 'rejected' ? String(result.reason) : '';
  }

  /** A class with a name of its own, because Nest has one repository for each name. */
  function entity(name: string, options?: TenantEntityOptions): Type<object> {
    const record = { [name]: class extends IdDto {} }[name]!;
    Uuid()(record.prototype, 'lead_id');
    TenantEntity(name, options)(record);
    return record;
  }

  function startWith(table: Type<object>, module: Type<unknown> = EmptyModule): Promise<TestApp> {
    const extension = defineExtension({ name: 'other', module, entities: [table] });
    return TestApp.start({ extensions: [extension], database: app.database });
  }
});

describe('the migrations of an extension', () => {
  it('are recorded in a table of their own', async () => {
    const rows = await app.sql('select name from latitude_migrations_acme_notes');
    expect(rows).toEqual([{ name: Notes1800000000000.name }]);
    expect(await app.sql(`select from migrations where name like 'Notes%'`)).toEqual([]);
  });

  it('run once for instances that start together', async () => {
    const database = await createDatabase('empty');
    const start = () => TestApp.start({ extensions: [notesExtension], database });
    const apps = await Promise.all([start(), start(), start()]);
    const rows = await apps[0].sql('select name from latitude_migrations_acme_notes');
    await Promise.all(apps.map((one) => one.stop()));
    await dropDatabase(database);
    expect(rows).toHaveLength(1);
  });

  it('leave a database that also works without the extension', async () => {
    const without = await TestApp.start({ database: app.database });
    const { api } = await without.organization();
    expect((await api.get(LEADS)).status).toBe(200);
    expect((await api.get(NOTES)).status).toBe(404);
    await without.stop();
  });

  it('are part of a backup, which only an application with the extension restores', async () => {
    await stopBackgroundWork(app);
    await createNote();
    const { file, header } = await backUp(app.database);
    expect(header.ledgers).toEqual({ latitude_migrations_acme_notes: [Notes1800000000000.name] });

    const target = await createDatabase('empty');
    await expect(restore(target, file)).rejects.toThrow(Notes1800000000000.name);
    await restore(target, file, [notesExtension]);
    expect(await rowsByTable(target)).toEqual(await rowsByTable(app.database));
    await dropDatabase(target);
  });
});

describe('the command line of an application with an extension', () => {
  const run = async (...args: string[]) => {
    const config = defineConfig({ extensions: [notesExtension] });
    const env = { DATABASE_URL: urlOf(app.database) };
    return resultOf<object>(args, await runCommand(['--json', ...args], env, config));
  };

  it('has the commands of the extension', async () => {
    expect(await run('notes')).toEqual({ table: 'notes' });
  });

  it('issues keys with the scopes of the extension', async () => {
    const options = ['--organization', tenant.id, '--name', 'k', '--scopes', 'notes:read'];
    expect(await run('keys', 'create', ...options)).toMatchObject({ scopes: ['notes:read'] });
  });

  it('lists the migrations of the extension', async () => {
    expect(await run('migrate')).toMatchObject({
      extensions: { 'acme-notes': [Notes1800000000000.name] },
    });
  });
});

describe('startup with extensions', () => {
  const named = (name: string, part: Partial<Extension>): Extension => ({
    ...defineExtension({ name, module: EmptyModule }),
    ...part,
  });
  const error = notesExtension.errors.provider_unavailable;

  it.each<[string, Extension[], string]>([
    ['the same name', [named('one', {}), named('one', {})], 'The name one of the extension one'],
    [
      'the same scope',
      [notesExtension, named('b', { scopes: ['notes:read'] })],
      'The scope notes:read of the extension b belongs to the extension acme-notes',
    ],
    [
      'a scope of Latitude',
      [named('b', { scopes: ['leads:read'] })],
      'The scope leads:read of the extension b belongs to the extension leads',
    ],
    [
      'an error code of Latitude',
      [named('b', { errors: { duplicate: error } })],
      'The error code duplicate of the extension b belongs to Latitude itself',
    ],
    [
      'a setting of Latitude',
      [named('b', { settings: { PORT: notesExtension.settings.NOTES_PROVIDER_URL! } })],
      'The setting PORT of the extension b belongs to Latitude itself',
    ],
    [
      'the file of a secret of Latitude',
      [named('b', { settings: { REDIS_URL_FILE: notesExtension.settings.NOTES_PROVIDER_URL! } })],
      'The setting REDIS_URL_FILE of the extension b belongs to Latitude itself',
    ],
    [
      'the same table',
      [notesExtension, named('b', { entities: [Note] })],
      'The table notes of the extension b belongs to the extension acme-notes',
    ],
  ])('fails if two of them claim %s', async (_, extensions, message) => {
    await expect(TestApp.start({ extensions, database: app.database })).rejects.toThrow(message);
  });

  it.each<[string, Partial<Extension>]>([
    ['is compatible with Latitude ^7', { compatibleWith: '^7' }],
    [`declares compatibleWith: 'new'`, { compatibleWith: 'new' }],
    ['declares the scope notes', { scopes: ['notes'] }],
    ['declares the error code notFound', { errors: { notFound: error } }],
    [
      'declares the error code fine with the status 200',
      { errors: { fine: { ...error, status: 200 } } },
    ],
  ])('fails if an extension %s', async (message, part) => {
    const extensions = [named('b', part)];
    await expect(TestApp.start({ extensions, database: app.database })).rejects.toThrow(message);
  });

  it('fails if an extension is listed twice', async () => {
    const extensions = [notesExtension, notesExtension];
    await expect(TestApp.start({ extensions, database: app.database })).rejects.toThrow(
      'The extension acme-notes is listed twice.',
    );
  });

  it('fails if an extension has no module, as after a circular import', async () => {
    const extensions = [named('b', { module: undefined })];
    await expect(TestApp.start({ extensions, database: app.database })).rejects.toThrow(
      'The extension b has no module. If it imports one, the two files import each other.',
    );
  });

  it.each<[unknown, string]>([
    [EmptyModule, 'EmptyModule is listed as an extension, but is none.'],
    [{ module: EmptyModule }, 'EmptyModule is listed as an extension, but is none.'],
    [{ name: 'b', module: EmptyModule }, 'b is listed as an extension, but is none.'],
    [undefined, 'An item of extensions is undefined.'],
  ])('fails if %p is listed in place of an extension', async (item, message) => {
    const extensions = [item as Extension];
    await expect(serve(defineConfig({ extensions }))).rejects.toThrow(message);
    await expect(TestApp.start({ extensions, database: app.database })).rejects.toThrow(message);
  });

  it('fails if two of them have the same command', async () => {
    const adds = (name: string) => named(name, { commands: notesExtension.commands });
    await expect(serve(defineConfig({ extensions: [adds('one'), adds('two')] }))).rejects.toThrow(
      "A command of the extension two is refused: cannot add command 'notes' as already have command 'notes'.",
    );
  });

  it('fails if a setting of an extension is invalid', async () => {
    const env = { NOTES_PROVIDER_URL: 'nowhere' };
    await expect(TestApp.start({ extensions: [notesExtension], env })).rejects.toThrow(
      'NOTES_PROVIDER_URL must be a URL such as https://example.com',
    );
  });
});
