import { createRequire } from 'node:module';
import path from 'node:path';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const { exit, getBuiltinModule } = process;

/**
 * A Jest environment whose tests use the globals of the process. Tests, Node and the packages that Node
 * loads thus have the same classes, such as `Error` and `Array`. A suite leaves no global behind.
 */
export default class ProcessEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  #ownKeys;
  #console = globalThis.console;
  #entities;

  constructor({ projectConfig }) {
    const { rootDir, testEnvironmentOptions } = projectConfig;
    const load = createRequire(path.join(rootDir, 'package.json'));
    for (const name of testEnvironmentOptions.preload ?? []) load(name);
    this.#ownKeys = new Set(Reflect.ownKeys(globalThis));
    // Nest passes TypeORM the entities of earlier suites too. TypeORM ignores them only without metadata.
    this.#entities = globalThis.typeormMetadataArgsStorage;
    if (this.#entities) globalThis.typeormMetadataArgsStorage = copyLists(this.#entities);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    // Jest replaces these three.
    Object.assign(process, { exit, getBuiltinModule });
    globalThis.console = this.#console;
    if (this.#entities) globalThis.typeormMetadataArgsStorage = this.#entities;
    // `describe`, `expect` and Jest's state, and the metadata of entities and DTOs, which TypeORM and
    // class-validator store in global variables.
    for (const key of Reflect.ownKeys(globalThis)) {
      if (!this.#ownKeys.has(key)) Reflect.deleteProperty(globalThis, key);
    }
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** There is no other context. `SharedPackagesRuntime` compiles without one. */
  getVmContext() {
    return null;
  }
}

/** Returns an object of the same class with copies of the lists. */
function copyLists(object) {
  const copy = Object.create(Object.getPrototypeOf(object));
  for (const [name, value] of Object.entries(object)) {
    copy[name] = Array.isArray(value) ? [...value] : value;
  }
  return copy;
}
