import { createRequire, isBuiltin } from 'node:module';
import { compileFunction } from 'node:vm';
import JestRuntime from 'jest-runtime';
import { preload, preloadedModule, preloadedSourceMaps } from './preloaded-modules.mjs';

/**
 * A Jest runtime in which packages and preloaded files are loaded once per process. Jest loads the other files
 * of this repository anew for each suite. Loading Nest, TypeORM, the MCP SDK and Latitude anew as well takes
 * more time than most suites. `jest.mock` works for files and for Node's own modules, and not for packages. A
 * suite that uses it gets preloaded files of its own.
 */
export default class SharedPackagesRuntime extends JestRuntime {
  #mocks = false;

  constructor(projectConfig, environment, resolver, transformer, ...rest) {
    super(projectConfig, environment, resolver, transformer, ...rest);
    const { rootDir, testEnvironmentOptions } = projectConfig;
    preload(testEnvironmentOptions.preload ?? [], { rootDir, transformer });
    for (const [file, map] of preloadedSourceMaps()) this.getSourceMaps().set(file, map);
    const { executor } = this;
    if (
      typeof executor?.compile !== 'function' ||
      !Array.isArray(executor.injectedModuleParameters)
    ) {
      throw new Error('This version of jest-runtime does not compile with `executor.compile`.');
    }
    executor.compile = (code, filename) =>
      compileFunction(code, executor.injectedModuleParameters, { filename });
  }

  requireModule(from, name, options, isActual) {
    const isPackage = name !== undefined && !/^[./]/.test(name) && !isBuiltin(name);
    if (isPackage && !options?.isInternalModule) return createRequire(from)(name);
    const preloaded = name?.startsWith('.') && !this.#mocks && preloadedModule(from, name);
    return preloaded ? preloaded.exports : super.requireModule(from, name, options, isActual);
  }

  /** Jest calls `jest.mock` before the imports of a suite. */
  setMock(...args) {
    this.#mocks = true;
    super.setMock(...args);
  }
}
