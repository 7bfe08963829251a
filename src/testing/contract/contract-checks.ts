import { SCOPES } from '../../platform/access/scopes.js';
import type { Extension } from '../../platform/extension/extension.js';
import { openApiDocument } from '../../platform/nest/openapi-document.js';
import { ToolRegistry } from '../../modules/mcp/tools/tool-registry.js';
import type { Answer } from '../api-client.js';
import { McpHttpClient } from '../mcp-client.js';
import { TestApp } from '../test-app.js';
import type { Tenant } from '../test-server.js';
import type { ContractOptions } from './contract-of.js';
import {
  call,
  type ContractRoute,
  routesOf,
  type Sample,
  type Samples,
} from './contract-routes.js';

/** Values for fields, parameters and arguments. None of them may cause a status of 500 and above. */
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

/** A record that a POST has created. */
interface CreatedRecord {
  readonly route: ContractRoute;
  readonly id: string;
}

/** The checks of `contractOf`, on an application with the extension. */
export class ContractChecks {
  private constructor(
    private readonly app: TestApp,
    private readonly extension: Extension,
    private readonly routes: readonly ContractRoute[],
    private readonly samples: Samples,
  ) {}

  static async start(
    extension: Extension,
    samples: Samples,
    options: Omit<ContractOptions, 'samples'>,
  ): Promise<ContractChecks> {
    const extensions = [extension, ...(options.extensions ?? [])];
    const app = await TestApp.start({ ...options, extensions });
    const document = await openApiDocument(app.app, app.url);
    const routes = routesOf(document, extension.scopes);
    return new ContractChecks(app, extension, routes, samples);
  }

  stop(): Promise<void> {
    return this.app.stop();
  }

  /** @throws Error that names the samples without a route */
  assertSamples(): void {
    const known = new Set(this.routes.map(({ name }) => name));
    const unknown = Object.keys(this.samples).filter((name) => !known.has(name));
    if (unknown.length > 0) throw new Error(`There are no such routes: ${unknown.join(', ')}`);
  }

  async refusesMissingKeys(): Promise<void> {
    for (const route of this.routes) {
      const { status } = await call(route, this.app.client());
      expect({ route: route.name, status }).toEqual({ route: route.name, status: 401 });
    }
  }

  async refusesMissingScopes(): Promise<void> {
    const { id } = await this.app.organization();
    for (const route of this.routes) {
      const others = SCOPES.filter((scope) => scope !== route.scope);
      const { status } = await call(route, (await this.app.key(id, others)).api);
      expect({ route: route.name, status }).toEqual({ route: route.name, status: 403 });
    }
  }

  async hidesRecords(): Promise<void> {
    const [owner, other] = [await this.app.organization(), await this.app.organization()];
    for (const record of await this.createRecords(owner)) {
      await this.expectUnreachable(record, owner, other);
      await this.expectUnlisted(record, other);
    }
  }

  async handlesHostileInput(): Promise<void> {
    const tenant = await this.app.organization();
    for (const route of this.routes) {
      const valid = await this.samples[route.name]?.(tenant);
      for (const value of HOSTILE) {
        for (const body of hostileBodies(route, valid, value)) {
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
  }

  async refusesMissingScopesOfTools(): Promise<void> {
    const { key } = await this.app.organization({ scopes: [] });
    for (const name of this.toolNames()) {
      const text = await this.callTool(key.key, name, {});
      expect({ name, text }).toEqual({ name, text: expect.stringContaining('insufficient_scope') });
    }
  }

  async handlesHostileArguments(): Promise<void> {
    const { key } = await this.app.organization();
    for (const name of this.toolNames()) {
      for (const value of HOSTILE) {
        const args = { id: value, text: value, limit: value };
        const text = await this.callTool(key.key, name, args);
        expect({ name, text }).toEqual({
          name,
          text: expect.not.stringContaining('internal_error'),
        });
      }
    }
  }

  /** Creates a record by each POST with a sample. */
  private async createRecords(tenant: Tenant): Promise<CreatedRecord[]> {
    const created: CreatedRecord[] = [];
    for (const [name, sample] of Object.entries<Sample>(this.samples)) {
      const route = this.routes.find((one) => one.name === name)!;
      const answer = await call(route, tenant.api, { body: await sample(tenant) });
      expect({ name, status: answer.status, body: answer.body as unknown }).toMatchObject({
        status: 201,
      });
      created.push({ route, id: (answer.body as { data: { id: string } }).data.id });
    }
    return created;
  }

  /** Expects that another organization can neither read nor change a record by its id. */
  private async expectUnreachable(
    { route: { path }, id }: CreatedRecord,
    owner: Tenant,
    other: Tenant,
  ): Promise<void> {
    const ofRecord = this.routes.filter((one) => one.path.startsWith(`${path}/{`));
    const read = ofRecord.find(({ method }) => method === 'GET');
    const before = read && (await call(read, owner.api, { id })).body;
    for (const one of ofRecord) {
      const { status } = await call(one, other.api, { id });
      expect({ route: one.name, isRefused: status === 404 || status === 400 }).toEqual({
        route: one.name,
        isRefused: true,
      });
    }
    expect(read && (await call(read, owner.api, { id })).body).toEqual(before);
  }

  /** Expects that the list of another organization does not contain a record. */
  private async expectUnlisted({ route, id }: CreatedRecord, other: Tenant): Promise<void> {
    const list = this.routes.find((one) => one.method === 'GET' && one.path === route.path);
    if (!list) return;
    const { body } = await call(list, other.api);
    expect(JSON.stringify(body)).not.toContain(id);
  }

  /** The names of the tools that require a scope of the extension. */
  private toolNames(): string[] {
    const registry = this.app.app.get(ToolRegistry, { strict: false });
    const names = (scopes: Iterable<string>) =>
      registry.listFor(new Set(scopes)).map(({ name }) => name);
    const others = names(SCOPES.filter((scope) => !this.extension.scopes.includes(scope)));
    return names(SCOPES).filter((name) => !others.includes(name));
  }

  private async callTool(key: string, name: string, args: object): Promise<string> {
    const client = new McpHttpClient(this.app.url, key);
    const { body } = await client.statelessRpc('tools/call', { name, arguments: args });
    return JSON.stringify(body);
  }
}

/** The value as the whole body, and as each field of a valid body. */
function hostileBodies({ fields }: ContractRoute, valid: object | undefined, value: unknown) {
  if (fields.length === 0) return [];
  return [value, ...fields.map((field) => ({ ...valid, [field]: value }))];
}

function expectHandled(route: ContractRoute, { status, body }: Answer, sent: unknown) {
  if (status < 500) return;
  throw new Error(
    `${route.name} answers ${JSON.stringify(sent)} with ${status} ${JSON.stringify(body)}`,
  );
}

function toWellFormed(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/\p{Surrogate}/gu, '');
}
