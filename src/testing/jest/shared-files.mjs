import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { compileFunction } from 'node:vm';

const PARAMETERS = ['module', 'exports', 'require', '__dirname', '__filename'];

/** Files that run once per process, as packages do. Each suite gets the same classes and functions. */
export class SharedFiles {
  /** The module of each file that runs or has run, by path. */
  #modules = new Map();
  #transform;

  /**
   * A file may load another one after the suite that loaded it.
   * @param transform returns the code of a file
   */
  transformWith(transform) {
    this.#transform = transform;
  }

  require(file) {
    const known = this.#modules.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    this.#modules.set(file, module);
    try {
      const run = compileFunction(this.#transform(file), PARAMETERS, { filename: file });
      run.call(
        module.exports,
        module,
        module.exports,
        this.#requireFrom(file),
        path.dirname(file),
        file,
      );
    } catch (error) {
      this.#modules.delete(file);
      throw error;
    }
    return module.exports;
  }

  #requireFrom(file) {
    const requirePackage = createRequire(file);
    return (name) => {
      const isShared = isRelative(name) && !name.endsWith('.json');
      return isShared ? this.require(resolveFile(file, name)) : requirePackage(name);
    };
  }
}

export function isRelative(name) {
  return /^\.{1,2}\//.test(name);
}

/** TypeScript is imported with the name of the compiled file. */
export function resolveFile(from, name) {
  const file = path.resolve(path.dirname(from), name);
  const source = file.replace(/\.js$/, '.ts');
  return existsSync(source) ? source : file;
}
