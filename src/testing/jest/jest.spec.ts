import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { types } from 'node:util';
import { Type } from 'class-transformer';
import { Entity, getMetadataArgsStorage } from 'typeorm';
import { declaredTypeOf } from '../../fields/validation/class-transformer-internals.js';
import type { TestApp } from '../test-app.js';
import ProcessEnvironment from './environment.mjs';

describe('the environment of tests', () => {
  it("shares its classes with Node's own modules", async () => {
    const error: unknown = await readFile('/does/not/exist').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(await readFile(__filename)).toBeInstanceOf(Uint8Array);
  });

  it('has Node load packages', () => {
    expect(types.isModuleNamespaceObject(jest.requireActual('uuid'))).toBe(true);
  });

  it('runs a file again in each module registry, although it is compiled once', () => {
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

  it('forgets the entities, transformations, listeners and globals of a suite at its end', async () => {
    const entities = () => getMetadataArgsStorage().tables.map(({ target }) => target);
    const before = entities();
    const projectConfig = { rootDir: __dirname, testEnvironmentOptions: {}, fakeTimers: {} };
    const environment = new ProcessEnvironment({ projectConfig });
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
