import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { IssuedKey, KeysService, NewKey } from '../modules/auth/keys.service.js';
import { ORDINARY_SCOPES, SCOPES, type Scope } from '../platform/access/scopes.js';
import type { DatabaseTarget } from '../platform/data/connection/data-source-options.js';
import type { OpenApiDocument } from '../platform/http/openapi/model.js';
import { ApiClient } from './api-client.js';
import { ownerPool } from './databases.js';
import { registerDocument, unregisterDocument } from './validate-answer.js';

/** Creates organizations and keys, and revokes keys. */
interface KeyIssuer extends Pick<KeysService, 'createOrganization' | 'createKey' | 'revoke'> {
  /** Returns an organization that nobody else uses, with a key that has the scopes of `--scopes all`. */
  readonly takeOrganization?: () => Promise<IssuedKey>;
}

/** The scopes of an application, and those of them that a key has without naming them. */
interface DeclaredScopes {
  readonly every: readonly Scope[];
  readonly ordinary: readonly Scope[];
}

/** The server that all suites of a run share, as the global setup describes it. */
interface SharedServer {
  readonly url: string;
  readonly keysUrl: string;
  readonly scopes: DeclaredScopes;
  readonly database: DatabaseTarget;
}

/** Returns undefined in a run without a shared server, such as that of an extension. */
function sharedServer(): SharedServer | undefined {
  const described = process.env.LATITUDE_TEST_SERVER;
  return described === undefined ? undefined : (JSON.parse(described) as SharedServer);
}

/** Fetches the OpenAPI document of the shared server, if the run has one. */
export async function sharedDocument(): Promise<OpenApiDocument | undefined> {
  const server = sharedServer();
  return server && (await documentOf(server));
}

/** The documents of shared servers, which do not change. */
const documents = new Map<string, Promise<OpenApiDocument>>();

function documentOf({ url }: SharedServer): Promise<OpenApiDocument> {
  const fetched = documents.get(url) ?? fetchDocument(url);
  documents.set(url, fetched);
  return fetched;
}

async function fetchDocument(url: string): Promise<OpenApiDocument> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
}

/** An organization, one of its keys, and a client that uses it. */
export interface Tenant {
  id: string;
  key: IssuedKey;
  api: ApiClient;
}

/** A running server. Each test creates organizations of its own. */
export class TestServer {
  /** The connections of `sql`. */
  private pool: pg.Pool | undefined;

  protected constructor(
    readonly url: string,
    readonly database: DatabaseTarget,
    private readonly keys: KeyIssuer,
    /** A suite that loads no application declares no scopes. */
    readonly scopes: DeclaredScopes = { every: SCOPES, ordinary: ORDINARY_SCOPES },
  ) {}

  /**
   * Connects to the server that the suites of this run share. It has the default settings, high rate
   * limits and a database that other suites use at the same time.
   */
  static async shared(): Promise<TestServer> {
    const shared = sharedServer();
    if (!shared) throw new Error('This run has no shared server. Start one with TestApp.start().');
    const { url, keysUrl, scopes, database } = shared;
    const server = new TestServer(url, database, remoteKeys(keysUrl), scopes);
    registerDocument(server.port, await documentOf(shared));
    return server;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Creates an organization with a key that has the scopes of `--scopes all` unless others are given. */
  async organization(options?: Partial<NewKey>): Promise<Tenant> {
    if (!options && this.keys.takeOrganization) {
      const key = await this.keys.takeOrganization();
      return { id: key.organization_id, key, api: this.client(key.key) };
    }
    const { scopes = this.scopes.ordinary, ...key } = options ?? {};
    const { id } = await this.keys.createOrganization(`Organization ${randomUUID()}`);
    return this.key(id, scopes, key);
  }

  /** Creates one more key of an organization. */
  async key(
    organizationId: string,
    scopes: readonly Scope[] = this.scopes.ordinary,
    options: Partial<NewKey> = {},
  ): Promise<Tenant> {
    const key = await this.keys.createKey({ organizationId, name: 'k', scopes, ...options });
    return { id: organizationId, key, api: this.client(key.key) };
  }

  /** Revokes a key of a tenant. */
  async revoke({ id, key }: Tenant): Promise<void> {
    await this.keys.revoke({ tenant: { id } }, key.id);
  }

  /** Returns a client with this key, or without one. */
  client(key?: string): ApiClient {
    return new ApiClient(this.url, key);
  }

  /** Runs SQL as the owner of the database. Row-level security does not apply. */
  async sql<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    this.pool ??= ownerPool(this.database);
    return (await this.pool.query(text, values)).rows as Row[];
  }

  /** Ends the use of the server. The shared server continues to run. */
  async stop(): Promise<void> {
    unregisterDocument(this.port);
    await this.pool?.end();
    this.pool = undefined;
  }
}

/** How many organizations the shared server creates at once, which takes little more time than for one. */
const ORGANIZATIONS_AT_ONCE = 20;

/** Organizations of the shared servers that no test uses yet, by the address where they are created. */
const unused = new Map<string, IssuedKey[]>();

/** The methods of `KeysService`, called on the shared server. */
function remoteKeys(url: string): KeyIssuer {
  const issuer = new ApiClient(url);
  const call = async (method: string, ...args: unknown[]): Promise<never> => {
    return (await issuer.post(`/${method}`, args)).body as never;
  };
  const createOrganizations = (count: number): Promise<IssuedKey[]> =>
    call('createOrganizations', count);
  return {
    takeOrganization: async () => {
      const known = unused.get(url)?.pop();
      if (known) return known;
      const [key, ...others] = await createOrganizations(ORGANIZATIONS_AT_ONCE);
      unused.set(url, [...(unused.get(url) ?? []), ...others]);
      return key!;
    },
    createOrganization: (...args) => call('createOrganization', ...args),
    createKey: (...args) => call('createKey', ...args),
    revoke: (...args) => call('revoke', ...args),
  };
}
