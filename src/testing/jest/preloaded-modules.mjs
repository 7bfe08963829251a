import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { compileFunction } from 'node:vm';

const PARAMETERS = ['module', 'exports', 'require', '__filename', '__dirname'];
const TRANSFORM_OPTIONS = {
  instrument: false,
  supportsDynamicImport: false,
  supportsExportNamespaceFrom: false,
  supportsStaticESM: false,
  supportsTopLevelAwait: false,
};

/** The modules of this process by file. */
const modules = new Map();
const sourceMaps = new Map();
let isComplete = false;

/**
 * Loads packages and files before the first suite of the process. A file is compiled by the transformer of
 * Jest, with all files that it imports.
 * @param names names of packages, and paths of files that start with a dot
 */
export function preload(names, { rootDir, transformer }) {
  if (isComplete) return;
  const from = path.join(rootDir, 'package.json');
  for (const name of names) requireFrom(from, transformer)(name);
  isComplete = true;
}

/** Returns a preloaded module, or undefined. */
export function preloadedModule(from, name) {
  return modules.get(fileOf(from, name));
}

/** Returns the files with the source maps of the preloaded modules. */
export function preloadedSourceMaps() {
  return sourceMaps;
}

function requireFrom(from, transformer) {
  const requirePackage = createRequire(from);
  return (name) =>
    name.startsWith('.') ? load(fileOf(from, name), transformer).exports : requirePackage(name);
}

function load(file, transformer) {
  const known = modules.get(file);
  if (known) return known;
  // The environment would remove the metadata of its classes at the end of the suite.
  if (isComplete) throw new Error(`${file} is imported late: name it in \`preload\` of the tests`);
  const module = { exports: {} };
  modules.set(file, module);
  const { code, sourceMapPath } = transformer.transform(file, TRANSFORM_OPTIONS);
  if (sourceMapPath) sourceMaps.set(file, sourceMapPath);
  const run = compileFunction(code, PARAMETERS, { filename: file });
  const require = requireFrom(file, transformer);
  run.call(module.exports, module, module.exports, require, file, path.dirname(file));
  return module;
}

/** Returns the file of an import. TypeScript names the compiled files. */
function fileOf(from, name) {
  const file = path.resolve(path.dirname(from), name);
  const source = file.replace(/\.js$/, '.ts');
  return existsSync(source) ? source : file;
}
