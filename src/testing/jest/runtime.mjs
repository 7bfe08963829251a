import { createRequire, isBuiltin } from 'node:module';
import { compileFunction } from 'node:vm';
import JestRuntime from 'jest-runtime';

/** The compiled files of all suites. Each suite runs them anew. */
const compiled = new Map();

/**
 * A Jest runtime in which Node loads the packages, once per process. Jest runs the files of this
 * repository anew for each suite, and compiles them once per process. Loading Nest, TypeORM and the MCP
 * SDK anew as well takes more time than most suites. `jest.mock` works for files and for Node's own
 * modules, and not for packages.
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
    const parameters = executor.injectedModuleParameters;
    executor.compile = (code, filename) => {
      const key = [filename, ...parameters].join();
      if (compiled.get(key)?.code !== code) {
        compiled.set(key, { code, run: compileFunction(code, parameters, { filename }) });
      }
      return compiled.get(key).run;
    };
  }

  requireModule(from, name, options, isActual) {
    const isPackage = name !== undefined && !/^[./]/.test(name) && !isBuiltin(name);
    if (isPackage && !options?.isInternalModule) return createRequire(from)(name);
    return super.requireModule(from, name, options, isActual);
  }
}
