import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';
import { compileFunction } from 'node:vm';
import JestRuntime from 'jest-runtime';
import { isRelative, resolveFile, SharedFiles } from './shared-files.mjs';

/** The compiled files of all suites. Each suite runs them again. */
const compiled = new Map();

const sharedFiles = new SharedFiles();

/** Where the source maps of shared files are, by path. */
const sharedSourceMaps = new Map();

/**
 * Replaces the `AsyncLocalStorage` in which Jest keeps the running test and which makes every promise of a suite slower. A
 * variable is enough, because the tests of a suite run one after another.
 */
class RunningTest {
  #test;

  getStore() {
    return this.#test;
  }

  async run(test, work) {
    const containing = this.#test;
    this.#test = test;
    try {
      return await work();
    } finally {
      this.#test = containing;
    }
  }
}

/**
 * A Jest runtime in which Node loads the packages, once per process, and the files of `sharedFolder` in the
 * options of the environment run once per process. Jest runs all other files again for each suite, and compiles
 * them once per process. Loading Nest, TypeORM and the MCP SDK for each suite would take more time than most suites.
 * `jest.mock` works for files and for Node's own modules, and not for packages. In a suite that calls it, no
 * file is shared.
 */
export default class SharedPackagesRuntime extends JestRuntime {
  #sharedFolder;
  /** Whether the suite replaces modules or wants new ones. */
  #isIsolated = false;

  constructor(...args) {
    super(...args);
    const { executor } = this;
    if (
      typeof executor?.compile !== 'function' ||
      !Array.isArray(executor.injectedModuleParameters)
    ) {
      throw new Error('This version of jest-runtime does not compile with `executor.compile`.');
    }
    const parameters = executor.injectedModuleParameters;
    executor.compile = (code, filename) => {
      const key = [filename, ...parameters].join();
      if (compiled.get(key)?.code !== code) {
        compiled.set(key, { code, run: compileFunction(code, parameters, { filename }) });
      }
      return compiled.get(key).run;
    };
    const [{ rootDir, testEnvironmentOptions }] = args;
    const { sharedFolder } = testEnvironmentOptions;
    this.#sharedFolder = sharedFolder && path.join(rootDir, sharedFolder, path.sep);
    sharedFiles.transformWith((file) => {
      const code = this.transformCache.transform(file);
      sharedSourceMaps.set(file, this.getSourceMaps().get(file));
      return code;
    });
    for (const [file, map] of sharedSourceMaps) this.getSourceMaps().set(file, map);
  }

  requireModule(from, name, options, isActual) {
    const isPackage = name !== undefined && !/^[./]/.test(name) && !isBuiltin(name);
    if (isPackage && !options?.isInternalModule) return createRequire(from)(name);
    const file = this.#sharedFileOf(from, name);
    return file ? sharedFiles.require(file) : super.requireModule(from, name, options, isActual);
  }

  /** Jest loads its own files with this method. */
  requireInternalModule(from, name) {
    if (name === 'node:async_hooks') return { AsyncLocalStorage: RunningTest };
    return super.requireInternalModule(from, name);
  }

  /** Returns the path of a shared file, or undefined for another module. */
  #sharedFileOf(from, name) {
    if (!this.#sharedFolder || this.#isIsolated) return undefined;
    if (name !== undefined && !isRelative(name)) return undefined;
    const file = name === undefined ? from : resolveFile(from, name);
    return file.startsWith(this.#sharedFolder) && !file.endsWith('.spec.ts') ? file : undefined;
  }

  setMock(...args) {
    this.#isIsolated = true;
    return super.setMock(...args);
  }

  isolateModules(work) {
    const before = this.#isIsolated;
    this.#isIsolated = true;
    try {
      super.isolateModules(work);
    } finally {
      this.#isIsolated = before;
    }
  }
}
