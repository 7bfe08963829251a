import { AsyncLocalStorage } from 'node:async_hooks';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import pg from 'pg';
import { ResilientClient } from '../../../src/platform/data/connection/driver-pool.js';
import { BatchConnections } from '../../../src/platform/data/gateway/batch-connections.js';
import { SystemDatabase } from '../../../src/platform/data/gateway/system-database.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import type { TestApp } from '../../../src/testing/test-app.js';

const DATABASES = [TenantDatabase, SystemDatabase, BatchConnections];

type Method = (...args: unknown[]) => unknown;

/** Records the SQL that the connections of an application send, and the methods that send it. */
export class SentStatements {
  /** The texts in their order, each with the names of its senders, such as `JobQueueRepository.claim`. */
  readonly senders = new Map<string, Set<string>>();
  /** The methods of repositories, and whether one was called. */
  readonly methods = new Map<string, boolean>();
  private readonly running = new AsyncLocalStorage<{ owner: object; name: string }>();
  private readonly query = Reflect.get(pg.Client.prototype, 'query') as Method;

  constructor({ app }: TestApp) {
    const discovery = new DiscoveryService(app.get(ModulesContainer));
    for (const { instance } of discovery.getProviders() as { instance?: object }[]) {
      if (instance && usesDatabase(instance)) this.nameMethodsOf(instance);
    }
    const { query } = this;
    const note = this.note.bind(this);
    Object.assign(pg.Client.prototype, {
      query(this: pg.Client, ...args: unknown[]) {
        if (this instanceof ResilientClient) for (const text of textsOf(args[0])) note(text);
        return query.apply(this, args);
      },
    });
  }

  stop(): void {
    Object.assign(pg.Client.prototype, { query: this.query });
  }

  private note(text: string): void {
    const senders = this.senders.get(text) ?? new Set();
    this.senders.set(text, senders.add(this.running.getStore()?.name ?? 'unknown'));
  }

  /** A method that another method of the same object calls has the name of that one. */
  private nameMethodsOf(owner: object): void {
    const { running, methods } = this;
    const className = owner.constructor.name;
    for (const [method, { original, declaredBy }] of methodsOf(owner)) {
      const name = `${className}.${method}`;
      const declared = `${declaredBy}.${method}`;
      if (!methods.has(declared)) methods.set(declared, false);
      const named = function (this: unknown, ...args: unknown[]): unknown {
        methods.set(declared, true);
        const outer = running.getStore();
        const store = outer?.owner === owner ? outer : { owner, name };
        return running.run(store, () => original.apply(this, args));
      };
      Object.defineProperty(owner, method, { value: named });
    }
  }
}

function usesDatabase(instance: object): boolean {
  const isDatabase = (value: unknown) => DATABASES.some((type) => value instanceof type);
  return !isDatabase(instance) && Object.values(instance).some(isDatabase);
}

/** The methods of an object, with those of its superclasses. */
function methodsOf(owner: object) {
  const methods = new Map<string, { original: Method; declaredBy: string }>();
  let type = Object.getPrototypeOf(owner) as object;
  while (type !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(type)) {
      const { value } = Object.getOwnPropertyDescriptor(type, name) ?? {};
      const isMethod = typeof value === 'function' && name !== 'constructor';
      if (isMethod && !methods.has(name)) {
        methods.set(name, { original: value as Method, declaredBy: type.constructor.name });
      }
    }
    type = Object.getPrototypeOf(type) as object;
  }
  return methods;
}

/** The SQL of a query in each form that the application sends: a pipeline, a query object or a text. */
function textsOf(query: unknown): string[] {
  if (typeof query === 'string') return [query];
  const { text, statements = [] } = query as {
    text?: string;
    statements?: readonly { text: string; isSetting?: boolean }[];
  };
  const sent = statements.filter(({ isSetting }) => !isSetting).map((each) => each.text);
  return text ? [text, ...sent] : sent;
}
