import { readFileSync } from 'node:fs';
import asyncHooks from 'node:async_hooks';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { types } from 'node:util';
import { Type } from 'class-transformer';
import { Entity, getMetadataArgsStorage } from 'typeorm';
import { SCOPES } from '../../platform/access/scopes.js';
import { ERROR_CATALOGUE } from '../../platform/errors/error-catalogue.js';
import { defineExtension } from '../../platform/extension/extension.js';
import { declaredTypeOf } from '../../platform/nest/class-transformer-internals.js';
import { forgetExtensions } from '../declared.js';
import type { TestApp } from '../test-app.js';
import ProcessEnvironment from './environment.mjs';
import { SharedFiles } from './shared-files.mjs';

describe('the environment of tests', () => {
  it("shares its classes with Node's own modules", async () => {
    const error: unknown = await readFile('/does/not/exist').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(await readFile(__filename)).toBeInstanceOf(Uint8Array);
  });

  it('has Node load packages', () => {
    expect(types.isModuleNamespaceObject(jest.requireActual('uuid'))).toBe(true);
  });

  it('runs a file of the application once', () => {
    const { ApiClient } = jest.requireActual<Record<'ApiClient', unknown>>('../api-client.js');
    jest.resetModules();
    const again = jest.requireActual<Record<'ApiClient', unknown>>('../api-client.js');
    expect(again.ApiClient).toBe(ApiClient);
  });

  it('runs a file of the application again for a suite that isolates modules', () => {
    const [first, second] = [1, 2].map(() => {
      let client: unknown;
      jest.isolateModules(() => {
        client = jest.requireActual<Record<'ApiClient', unknown>>('../api-client.js').ApiClient;
      });
      return client;
    });
    expect(first).toBeInstanceOf(Function);
    expect(first).not.toBe(second);
  });

  it("lets Node's streams work while timers are fake", async () => {
    jest.useFakeTimers();
    expect(await text(Readable.from(['a', 'b']))).toBe('ab');
    jest.useRealTimers();
  });

  it('forgets the extensions of earlier suites', () => {
    defineExtension({
      name: 'left-over',
      module: class {},
      scopes: ['left-over:read'],
      errors: { left_over: { status: 400, retryable: false, message: 'm', advice: 'a' } },
    });
    expect(SCOPES).toContain('left-over:read');
    expect(ERROR_CATALOGUE).toHaveProperty('left_over');
    forgetExtensions();
    expect(SCOPES).not.toContain('left-over:read');
    expect(SCOPES).toContain('leads:read');
    expect(ERROR_CATALOGUE).not.toHaveProperty('left_over');
    expect(ERROR_CATALOGUE).toHaveProperty('webhook_disabled');
  });

  it('ends the asynchronous contexts of a suite at its end', async () => {
    const projectConfig = { rootDir: __dirname, testEnvironmentOptions: {}, fakeTimers: {} };
    const environment = new ProcessEnvironment({ projectConfig });
    await environment.setup();
    const storage = new asyncHooks.AsyncLocalStorage<string>();
    await storage.run('context', async () => {
      expect(storage.getStore()).toBe('context');
      await environment.teardown();
      expect(storage.getStore()).toBeUndefined();
    });
    await storage.run('again', async () => {
      await setImmediate();
      expect(storage.getStore()).toBe('again');
    });
    storage.disable();
  });

  it('forgets the entities, transformations, listeners and globals of a suite at its end', async () => {
    const entities = () => getMetadataArgsStorage().tables.map(({ target }) => target);
    const before = entities();
    const projectConfig = { rootDir: __dirname, testEnvironmentOptions: {}, fakeTimers: {} };
    const environment = new ProcessEnvironment({ projectConfig });
    await environment.setup();
    class Thing {}
    Entity()(Thing);
    Type(() => Thing)(Thing.prototype, 'part');
    const listener = () => undefined;
    process.on('exit', listener);
    Object.assign(globalThis, { leftOver: true });
    expect(entities()).toEqual([...before, Thing]);
    expect(declaredTypeOf(Thing, 'part')).toBe(Thing);
    const stop = jest.fn(() => Promise.resolve());
    globalThis.latitudeTestApps = new Set([{ stop } as unknown as TestApp]);
    await environment.teardown();
    expect(entities()).toEqual(before);
    expect(declaredTypeOf(Thing, 'part')).toBeUndefined();
    expect(process.listeners('exit')).not.toContain(listener);
    expect(globalThis).not.toHaveProperty('leftOver');
    expect(stop).toHaveBeenCalledTimes(1);
  });
});

describe('shared files', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(path.join(os.tmpdir(), 'latitude-shared-'))));
  afterEach(() => rm(directory, { recursive: true }));

  /** Writes files and returns the path of the first. */
  async function write(files: Record<string, string>): Promise<string> {
    for (const [name, code] of Object.entries(files)) {
      await writeFile(path.join(directory, name), code);
    }
    return path.join(directory, Object.keys(files)[0]!);
  }

  function sharedFiles(): SharedFiles {
    const files = new SharedFiles();
    files.transformWith((file) => readFileSync(file, 'utf8'));
    return files;
  }

  it('can import each other', async () => {
    const first = await write({
      'a.ts': "exports.name = 'a'; exports.ofB = () => require('./b.js').nameOfA();",
      'b.ts': "const a = require('./a.js'); exports.nameOfA = () => a.name;",
    });
    const { ofB } = sharedFiles().require(first) as { ofB: () => string };
    expect(ofB()).toBe('a');
  });

  it('run again after they failed', async () => {
    const file = await write({ 'a.ts': "throw new Error('no');" });
    const files = sharedFiles();
    expect(() => files.require(file)).toThrow('no');
    await write({ 'a.ts': 'exports.works = true;' });
    expect(files.require(file)).toEqual({ works: true });
  });
});
