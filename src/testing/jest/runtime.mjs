import { createRequire, isBuiltin } from 'node:module';
import { compileFunction } from 'node:vm';
import JestRuntime from 'jest-runtime';

/**
 * A Jest runtime in which Node loads the packages, once per process. Jest loads the files of this
 * repository, anew for each suite. Loading Nest, TypeORM and the MCP SDK anew as well takes more time than
 * most suites. `jest.mock` works for files and for Node's own modules, and not for packages.
 */
export default class SharedPackagesRuntime extends JestRuntime {
  constructor(...args) {
    super(...args);
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
    return super.requireModule(from, name, options, isActual);
  }
}
