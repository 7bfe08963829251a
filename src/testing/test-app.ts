import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { DiscoveryService } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import pg from 'pg';
import { createApp } from '../app.js';
import type { AppOptions } from '../root.module.js';
import { type IssuedKey, KeysService, type NewKey } from '../auth/keys.service.js';
import { SCOPES, type Scope } from '../auth/scopes.js';
import { setLogLevel } from '../config/logger.js';
import { readSettings, type Settings } from '../config/settings.js';
import type { DatabaseTarget } from '../database/connection/data-source-options.js';
import { openApiDocument } from '../http/openapi/document.js';
import { controllersOf } from '../http/openapi/openapi.controller.js';
import { ApiClient } from './api-client.js';
import { holdToDocument, releaseFromDocument } from './described-answers.js';

/** The PostgreSQL of this test run: its address, and the migrated database to copy. */
type Cluster = { template: string } & (
  { url: string } | { host: string; port: number; user: string; database: string }
);

/** Limits so high that only the tests of limits meet them. */
const TEST_SETTINGS: Settings = {
  ...readSettings({ LOG_LEVEL: 'silent' }),
  port: 0,
  readsPerMinute: 1_000_000,
  writesPerMinute: 1_000_000,
};

/** The same for all servers, so that what is compiled of one document serves all of them. */
const SERVER_URL = 'http://127.0.0.1';

/** A running Latitude on a database of its own. */
export class TestApp {
  private constructor(
    readonly app: NestExpressApplication,
    readonly database: DatabaseTarget,
    readonly settings: Settings,
    private readonly ownsDatabase: boolean,
  ) {}

  /** Starts on a new copy of the template, or beside another instance on its database. */
  static async start({
    settings = {},
    modules = [],
    timeBudget,
    database,
  }: {
    settings?: Partial<Settings>;
    modules?: AppOptions['modules'];
    timeBudget?: AppOptions['timeBudget'];
    database?: DatabaseTarget;
  } = {}): Promise<TestApp> {
    const allSettings = { ...TEST_SETTINGS, ...settings };
    setLogLevel(allSettings.logLevel);
    const target = database ?? (await createDatabase());
    const app = await createApp({ settings: allSettings, database: target, modules, timeBudget });
    await app.listen(0, '127.0.0.1');
    const running = new TestApp(app, target, allSettings, database === undefined);
    const discovery = app.get(DiscoveryService, { strict: false });
    holdToDocument(running.port, openApiDocument(controllersOf(discovery), SERVER_URL));
    return running;
  }

  get port(): number {
    return (this.app.getHttpServer().address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** An organization of its own, with a key that has every scope unless others are given. */
  async organization({ scopes = SCOPES, ...key }: Partial<NewKey> = {}): Promise<Tenant> {
    const keys = this.app.get(KeysService);
    const { id } = await keys.createOrganization(`Organization ${randomUUID()}`);
    return this.tenant(id, await keys.createKey({ organizationId: id, name: 'k', scopes, ...key }));
  }

  /** One more key of an organization. */
  async key(
    organizationId: string,
    scopes: readonly Scope[] = SCOPES,
    options: Partial<NewKey> = {},
  ): Promise<Tenant> {
    const keys = this.app.get(KeysService);
    const key = await keys.createKey({ organizationId, name: 'k', scopes, ...options });
    return this.tenant(organizationId, key);
  }

  /** A caller with this key, or with none. */
  client(key?: string): ApiClient {
    return new ApiClient(this.url, key);
  }

  /** Runs SQL as the owner of the database, past the gateway. */
  sql<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return query<Row>(this.database, text, values);
  }

  /** Ends it, and with the instance that made the database, the database too. */
  async stop(): Promise<void> {
    releaseFromDocument(this.port);
    // Nothing more comes on the connections that fetch keeps.
    this.app.getHttpServer().closeIdleConnections();
    await this.app.close();
    if (this.ownsDatabase) await dropDatabase(this.database);
  }

  private tenant(id: string, key: IssuedKey): Tenant {
    return { id, key, api: this.client(key.key) };
  }
}

/** An organization, one of its keys, and a caller who uses it. */
export interface Tenant {
  id: string;
  key: IssuedKey;
  api: ApiClient;
}

/** A new database: a copy of the migrated template, or an empty one. */
export async function createDatabase(from: 'template' | 'empty' = 'template') {
  const { template, ...cluster } = testCluster();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const source = from === 'template' ? template : 'template0';
  await query(cluster, `create database ${name} template ${source} strategy file_copy`);
  if (!('url' in cluster)) return { ...cluster, database: name };
  const url = new URL(cluster.url);
  url.pathname = `/${name}`;
  return { url: url.href };
}

/** How a client reaches a database. */
export function configOf(target: DatabaseTarget): pg.ClientConfig {
  if (!('url' in target)) return target;
  const { hostname, port, username, pathname } = new URL(target.url);
  return {
    host: hostname,
    port: Number(port || 5432),
    user: username,
    database: pathname.slice(1),
  };
}

/** The `DATABASE_URL` of a database. */
export function urlOf(target: DatabaseTarget): string {
  if ('url' in target) return target.url;
  const { host, port, user, database } = target;
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

/** The name of a database. */
export function databaseOf(target: DatabaseTarget): string {
  return 'url' in target ? new URL(target.url).pathname.slice(1) : target.database;
}

export async function dropDatabase(target: DatabaseTarget): Promise<void> {
  const name = databaseOf(target);
  const { template: _, ...cluster } = testCluster();
  await query(cluster, `drop database ${name} with (force)`);
}

function testCluster(): Cluster {
  return JSON.parse(process.env.LATITUDE_TEST_CLUSTER ?? '') as Cluster;
}

async function query<Row>(target: DatabaseTarget, text: string, values: unknown[] = []) {
  const client = new pg.Client('url' in target ? { connectionString: target.url } : target);
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
