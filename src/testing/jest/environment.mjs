import asyncHooks from 'node:async_hooks';
import { createRequire } from 'node:module';
import path from 'node:path';
import perfHooks from 'node:perf_hooks';
import { ModernFakeTimers } from '@jest/fake-timers';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, useContainer } from 'class-validator';
import { ModuleMocker } from 'jest-mock';

const { exit, getBuiltinModule } = process;
const { AsyncLocalStorage } = asyncHooks;
const { PerformanceObserver } = perfHooks;

// prom-client starts one for each application and never stops it.
const eventLoopDelay = perfHooks.monitorEventLoopDelay();
perfHooks.monitorEventLoopDelay = () => eventLoopDelay;

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
  #metadata;
  #listeners = listenersOfProcess();
  /** Those of prom-client would continue and keep the modules of a suite in memory. */
  #observers = [];
  /** Those of Jest would continue, and each makes every promise of later suites slower. */
  #storages = [];

  constructor({ projectConfig }) {
    const { rootDir, testEnvironmentOptions } = projectConfig;
    const load = createRequire(path.join(rootDir, 'package.json'));
    for (const name of testEnvironmentOptions.preload ?? []) load(name);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  /** Called after the files of `setupFiles`, which register their classes once per process. */
  async setup() {
    this.#ownKeys = new Set(Reflect.ownKeys(globalThis));
    // Nest passes TypeORM the entities of earlier suites too. TypeORM ignores them only without metadata. class-validator
    // searches the classes of all suites for each class that it looks up.
    const ofEntities = globalThis.typeormMetadataArgsStorage;
    const stores = [
      defaultMetadataStorage,
      getMetadataStorage(),
      ...(ofEntities ? [ofEntities] : []),
    ];
    this.#metadata = stores.map((store) => [store, { ...store }]);
    for (const store of stores) Object.assign(store, copyOf(store));
    useContainer(containerOf(new Map()));
    const observers = this.#observers;
    perfHooks.PerformanceObserver = class extends PerformanceObserver {
      constructor(callback) {
        super(callback);
        observers.push(this);
      }
    };
    const storages = this.#storages;
    asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
      constructor(...args) {
        super(...args);
        storages.push(this);
      }
    };
  }

  /** Prints what the servers of a failing test logged, such as the cause of a response with status 500. */
  handleTestEvent({ name, test }) {
    if (name !== 'test_done') return;
    const lines = globalThis.latitudeTestLog?.splice(0) ?? [];
    if (lines.length === 0 || test.errors.length === 0) return;
    process.stderr.write(`The log of the servers during "${test.name}":\n${lines.join('')}`);
  }

  async teardown() {
    // A server that a failing test did not stop would keep the process running.
    await Promise.all([...(globalThis.latitudeTestApps ?? [])].map((app) => app.stop()));
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    // Jest replaces these three.
    Object.assign(process, { exit, getBuiltinModule });
    perfHooks.PerformanceObserver = PerformanceObserver;
    for (const observer of this.#observers) observer.disconnect();
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    // A package that uses one again enables it.
    for (const storage of this.#storages) storage.disable();
    for (const [event, listener] of listenersOfProcess()) {
      const isOld = this.#listeners.some(([, old]) => old === listener);
      if (!isOld) process.removeListener(event, listener);
    }
    globalThis.console = this.#console;
    for (const [store, before] of this.#metadata) Object.assign(store, before);
    // `describe`, `expect` and Jest's state, and the metadata that TypeORM and class-validator store in
    // global variables.
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

/** Returns each listener of the process with its event. */
function listenersOfProcess() {
  return process
    .eventNames()
    .flatMap((event) => process.listeners(event).map((listener) => [event, listener]));
}

/** Returns a container of class-validator. Its own keeps the constraints of all suites. */
function containerOf(instances) {
  return {
    get(constraint) {
      if (!instances.has(constraint)) instances.set(constraint, new constraint());
      return instances.get(constraint);
    },
  };
}

/** Copies the lists and maps of an object, and the lists in these maps. */
function copyOf(object) {
  const copy = (value) => {
    if (Array.isArray(value)) return [...value];
    return value instanceof Map
      ? new Map([...value].map(([key, item]) => [key, copy(item)]))
      : value;
  };
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, copy(value)]));
}
