import { ModulesContainer } from '@nestjs/core';
import { SCOPES } from '../auth/scopes.js';
import type { Extension } from '../extension/extension.js';
import { openApiDocument } from '../http/openapi/document.js';
import { ToolRegistry } from '../mcp/tools/tool-registry.js';
import {
  call,
  type ContractRoute,
  routesOf,
  type Sample,
  type Samples,
} from './contract-routes.js';
import { McpHttpClient } from './mcp-client.js';
import { TestApp } from './test-app.js';
import type { Tenant } from './test-server.js';

export interface ContractOptions extends Omit<
  Parameters<typeof TestApp.start>[0] & object,
  'database'
> {
  readonly samples?: Samples;
}

/** Values that no field and no parameter may answer with a status of 500 and above. */
const HOSTILE: readonly unknown[] = [
  ...[
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    '',
    ' ',
    '\u0000',
    '\ud800',
    "'; drop table leads; --",
    '%',
    '🙂',
  ],
  ...['x'.repeat(10_000), [], [null], {}, { a: { b: [] } }, '0001-01-01', '275760-09-13T00:00:00Z'],
];

/**
 * Declares the suites that every extension must pass, over its routes and tools: access, separation of
 * organizations, and hostile input. Call it at the top level of a spec.
 * @param samples a valid body for each POST; without one, records of that route are not made
 */
export function contractOf(
  extension: Extension,
  { samples = {}, ...options }: ContractOptions = {},
): void {
  describe(`the contract of the extension ${extension.name}`, () => {
    let app: TestApp;
    let routes: ContractRoute[];

    beforeAll(async () => {
      app = await TestApp.start({
        ...options,
        extensions: [extension, ...(options.extensions ?? [])],
      });
      const document = await openApiDocument(app.app.get(ModulesContainer), app.url);
      routes = routesOf(document, extension.scopes);
      const unknown = Object.keys(samples).filter(
        (name) => !routes.some((one) => one.name === name),
      );
      if (unknown.length > 0) throw new Error(`There are no such routes: ${unknown.join(', ')}`);
    });
    afterAll(() => app.stop());

    /** Creates a record by each POST with a sample. */
    async function createRecords(tenant: Tenant): Promise<{ route: ContractRoute; id: string }[]> {
      const created: { route: ContractRoute; id: string }[] = [];
      for (const [name, sample] of Object.entries<Sample>(samples)) {
        const route = routes.find((one) => one.name === name)!;
        const answer = await call(route, tenant.api, { body: await sample(tenant) });
        expect({ name, status: answer.status, body: answer.body as unknown }).toMatchObject({
          status: 201,
        });
        created.push({ route, id: (answer.body as { data: { id: string } }).data.id });
      }
      return created;
    }

    it('refuses requests without a key', async () => {
      for (const route of routes) {
        const { status } = await call(route, app.client());
        expect({ route: route.name, status }).toEqual({ route: route.name, status: 401 });
      }
    });

    it('refuses keys that lack the scope of a route', async () => {
      const { id } = await app.organization();
      for (const route of routes) {
        const others = SCOPES.filter((scope) => scope !== route.scope);
        const { status } = await call(route, (await app.key(id, others)).api);
        expect({ route: route.name, status }).toEqual({ route: route.name, status: 403 });
      }
    });

    it('hides the records of an organization from all others', async () => {
      const [owner, other] = [await app.organization(), await app.organization()];
      for (const { route, id } of await createRecords(owner)) {
        const single = routes.filter(({ path }) => path.startsWith(`${route.path}/{`));
        const read = single.find(({ method }) => method === 'GET');
        const before = read && (await call(read, owner.api, { id })).body;
        for (const one of single) {
          const { status } = await call(one, other.api, { id });
          expect({ route: one.name, isRefused: status === 404 || status === 400 }).toEqual({
            route: one.name,
            isRefused: true,
          });
        }
        expect(read && (await call(read, owner.api, { id })).body).toEqual(before);
        const list = routes.find(({ method, path }) => method === 'GET' && path === route.path);
        if (!list) continue;
        const { body } = await call(list, other.api);
        expect(JSON.stringify(body)).not.toContain(id);
      }
    });

    it('answers hostile input without a status of 500 and above', async () => {
      const tenant = await app.organization();
      for (const route of routes) {
        const valid = await samples[route.name]?.(tenant);
        for (const value of HOSTILE) {
          const bodies = [value, ...route.fields.map((field) => ({ ...valid, [field]: value }))];
          for (const body of route.fields.length > 0 ? bodies : []) {
            expectHandled(route, await call(route, tenant.api, { body }), body);
          }
          for (const name of route.parameters) {
            const query = `?${name}=${encodeURIComponent(toWellFormed(value))}`;
            expectHandled(route, await call(route, tenant.api, { query }), query);
          }
          if (!route.path.includes('{')) continue;
          expectHandled(route, await call(route, tenant.api, { id: toWellFormed(value) }), value);
        }
      }
    });

    it('has tools that refuse keys without their scope', async () => {
      const { key } = await app.organization({ scopes: [] });
      for (const name of toolsOf(app, extension)) {
        const text = await callTool(key.key, name, {});
        expect({ name, text }).toEqual({
          name,
          text: expect.stringContaining('insufficient_scope'),
        });
      }
    });

    it('has tools that answer hostile arguments without an internal error', async () => {
      const { key } = await app.organization();
      for (const name of toolsOf(app, extension)) {
        for (const value of HOSTILE) {
          const text = await callTool(key.key, name, { id: value, text: value, limit: value });
          expect({ name, text }).toEqual({
            name,
            text: expect.not.stringContaining('internal_error'),
          });
        }
      }
    });

    async function callTool(key: string, name: string, args: object): Promise<string> {
      const client = new McpHttpClient(app.url, key);
      const { body } = await client.statelessRpc('tools/call', { name, arguments: args });
      return JSON.stringify(body);
    }
  });
}

/** The names of the tools that require a scope of the extension. */
function toolsOf({ app }: TestApp, extension: Extension): string[] {
  const registry = app.get(ToolRegistry, { strict: false });
  const names = (scopes: Iterable<string>) =>
    registry.listFor(new Set(scopes)).map(({ name }) => name);
  const foreign = names(SCOPES.filter((scope) => !extension.scopes.includes(scope)));
  return names(SCOPES).filter((name) => !foreign.includes(name));
}

function expectHandled(
  route: ContractRoute,
  { status, body }: { status: number; body: unknown },
  sent: unknown,
) {
  if (status < 500) return;
  throw new Error(
    `${route.name} answers ${JSON.stringify(sent)} with ${status} ${JSON.stringify(body)}`,
  );
}

function toWellFormed(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/\p{Surrogate}/gu, '');
}
