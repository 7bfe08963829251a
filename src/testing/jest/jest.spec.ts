import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { types } from 'node:util';
import { Entity, getMetadataArgsStorage } from 'typeorm';
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

  it("lets Node's streams work while timers are fake", async () => {
    jest.useFakeTimers();
    expect(await text(Readable.from(['a', 'b']))).toBe('ab');
    jest.useRealTimers();
  });

  it('forgets the entities and globals of a suite at its end', async () => {
    const entities = () => getMetadataArgsStorage().tables.map(({ target }) => target);
    const before = entities();
    const projectConfig = { rootDir: __dirname, testEnvironmentOptions: {}, fakeTimers: {} };
    const environment = new ProcessEnvironment({ projectConfig });
    class Thing {}
    Entity()(Thing);
    Object.assign(globalThis, { leftOver: true });
    expect(entities()).toEqual([...before, Thing]);
    await environment.teardown();
    expect(entities()).toEqual(before);
    expect(globalThis).not.toHaveProperty('leftOver');
  });
});
