import { DataSource } from 'typeorm';
import type { Answer } from '../../../src/testing/api-client.js';
import { errorOf, expectInvalid } from '../../../src/testing/factories.js';
import { declaredFieldsOf } from '../../support/declared-routes.js';
import { connectTenant, type McpTenant } from '../../support/id-positions.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { routeName, type Route, ROUTES, send, validRequest } from '../../../src/testing/routes.js';
import { recordTables, rowsAsText, rowsOf } from '../../support/database/tenant-tables.js';
import { byName, TOOLS, validArguments } from '../../support/mcp/tools.js';

const WRITES = ROUTES.filter(({ body }) => body !== undefined);

/** Some of the columns that only the service sets (docs/contract/resources.md). */
const READ_ONLY: Readonly<Record<string, readonly string[]>> = {
  leads: [
    ...['id', 'organization_id', 'created_at', 'updated_at', 'deleted_at', 'lead_score'],
    ...['email_compared', 'phone_compared', 'search_text'],
  ],
  appointments: ['id', 'organization_id', 'created_at', 'updated_at', 'booked_by'],
  tasks: [
    ...['id', 'organization_id', 'created_at', 'updated_at', 'deleted_at', 'priority_rank'],
    ...['created_by_ai', 'created_by_user_id'],
  ],
  webhooks: ['id', 'organization_id', 'created_at', 'updated_at', 'secret', 'scopes'],
};

let app: TestApp;
let ours: McpTenant;
let theirs: McpTenant;
let tables: string[];
/** The names of the columns by table. */
let columns: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  app = await TestApp.start();
  [ours, theirs] = await Promise.all([join(), join()]);
  tables = await recordTables(app);
  const rows = await app.sql<{ table: string; names: string[] }>(
    `select table_name as table, array_agg(column_name::text) as names
     from information_schema.columns where table_schema = 'public' group by 1`,
  );
  columns = new Map(rows.map(({ table, names }) => [table, names]));
});
afterAll(() => app.stop());

async function join(): Promise<McpTenant> {
  return connectTenant(app, await app.organization());
}

/** The tables that do not have the name of their records. */
const TABLES: Readonly<Record<string, string>> = { holds: 'busy_times' };

const resourceOf = ({ pattern }: Route): string => pattern.split('/')[3]!;

function tableOf(route: Route): string {
  return TABLES[resourceOf(route)] ?? resourceOf(route);
}

/** Returns the columns and relations of the route's record that are not fields of its body. */
function readOnlyColumns(route: Route): string[] {
  const table = tableOf(route);
  const { entityMetadatas } = app.app.get(DataSource);
  const entity = entityMetadatas.find(({ tableName }) => tableName === table);
  const relations = entity?.relations.map(({ propertyName }) => propertyName) ?? [];
  const names = [...(columns.get(table) ?? []), ...relations];
  return [...new Set(names)].filter((name) => !fieldsOf(route).includes(name));
}

function fieldsOf(route: Route): string[] {
  return declaredFieldsOf(route, 'body').map(({ name }) => name);
}

/** Returns a complete row of another organization, which an attacker may have obtained. */
async function foreignRow(route: Route): Promise<Record<string, unknown>> {
  const create = ROUTES.find(
    ({ method, pattern }) => method === 'POST' && pattern.endsWith(resourceOf(route)),
  )!;
  await send(theirs.api, create, await validRequest(create, theirs));
  return (await rowsOf(app, [tableOf(route)], theirs))[0] as Record<string, unknown>;
}

describe.each(WRITES.map((route) => [routeName(route), route] as const))(
  'mass assignment by %s',
  (_, route) => {
    it('covers the columns that only the service sets', () => {
      expect(readOnlyColumns(route)).toEqual(
        expect.arrayContaining([...(READ_ONLY[tableOf(route)] ?? [])]),
      );
    });

    it('rejects and names each read-only column, and changes no row', async () => {
      const row = await foreignRow(route);
      const { path, body } = await validRequest(route, ours);
      const before = await recordsOfBoth();
      const names = readOnlyColumns(route);
      for (const valueOf of [(name: string) => row[name] ?? 'x', () => null]) {
        const stray = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
        const answer = await send(ours.api, route, { path, body: { ...body, ...stray } });
        expectInvalid(answer, ...names);
      }
      expect(await recordsOfBoth()).toEqual(before);
    });

    it('rejects a complete row of another organization', async () => {
      const row = await foreignRow(route);
      const { path } = await validRequest(route, ours);
      const before = await recordsOfBoth();
      const stray = Object.keys(row).filter((name) => !fieldsOf(route).includes(name));
      const answer = await send(ours.api, route, { path, body: row });
      const named = (answer.body.error.details as { field: string }[]).map(({ field }) => field);
      expect(named).toEqual(expect.arrayContaining(stray));
      expect(await recordsOfBoth()).toEqual(before);
    });
  },
);

describe.each(byName(TOOLS.filter(({ route }) => route.body !== undefined)))(
  'mass assignment by %s',
  (_, tool) => {
    it('rejects each read-only column with the error of REST, and changes no row', async () => {
      const { name: toolName, route } = tool;
      const args = await validArguments(tool, ours);
      const row = await foreignRow(route);
      const request = await validRequest(route, ours);
      const before = await recordsOfBoth();
      // Skips `id`: as an argument of a tool it selects the record.
      const names = readOnlyColumns(route).filter((column) => !(column in args));
      const stray = Object.fromEntries(names.map((name) => [name, row[name] ?? 'x']));
      const call = { name: toolName, arguments: { ...args, ...stray } };
      const { body } = await ours.rpc('tools/call', call);
      const rest = await send(ours.api, route, {
        ...request,
        body: { ...request.body, ...stray },
      });
      const { details = [] } = errorOf(rest);
      expect(details.map(({ field }) => field).sort()).toEqual(names.toSorted());
      expect(failureIn(body)).toMatchObject({
        code: 'validation_error',
        details: details.map(({ field, message }) => {
          // A tool has parameters that are no fields, such as `id` and `clear`.
          const [fault = '', fields] = message.split('; the fields are ');
          return { field, message: fields === undefined ? message : startingWith(fault) };
        }),
      });
      expect(await recordsOfBoth()).toEqual(before);
    });
  },
);

async function recordsOfBoth(): Promise<string[]> {
  return [await rowsAsText(app, tables, ours), await rowsAsText(app, tables, theirs)];
}

function startingWith(text: string): unknown {
  return expect.stringMatching(new RegExp(`^${text}; the parameters are `));
}

/** Returns the error in the result of a tool. */
function failureIn(body: Answer['body']): unknown {
  return body.result._meta['latitude/error'];
}
