// Fails if dependencies between folders are part of a circle, and names each of them with a file that has it. An
// import leads from one folder to another below their common parent: src/a/b/c.ts that imports src/a/d/e/f.ts leads
// from src/a/b to src/a/d.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { sourceFiles } from './source-files.mjs';

/** The folders that each folder imports, each with a file that imports it. */
const imports = new Map();
for (const file of sourceFiles()) {
  for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles) {
    if (!fileName.startsWith('.')) continue;
    const [from, to] = separateFolders(file, path.posix.join(path.posix.dirname(file), fileName));
    if (from && to) imports.set(from, (imports.get(from) ?? new Map()).set(to, file));
  }
}
const inCircles = [...imports].flatMap(([from, targets]) =>
  [...targets]
    .filter(([to]) => reachableFrom(to).has(from))
    .map(([to, file]) => `${from} imports ${to} (${file})`),
);
for (const edge of inCircles.sort()) console.error(`check:folders: ${edge}`);
if (inCircles.length > 0) process.exitCode = 1;
else console.log('check:folders: no circles');

/** Returns the folders below the common parent of two files; undefined for a file directly in it. */
function separateFolders(...files) {
  const [one, other] = files.map((file) => file.split('/'));
  const depth = one.findIndex((name, index) => name !== other[index]);
  return [one, other].map((names) =>
    names.length > depth + 1 ? names.slice(0, depth + 1).join('/') : undefined,
  );
}

function reachableFrom(folder, reached = new Set()) {
  for (const next of imports.get(folder)?.keys() ?? []) {
    if (reached.has(next)) continue;
    reached.add(next);
    reachableFrom(next, reached);
  }
  return reached;
}
