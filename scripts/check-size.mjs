// Prints the lines of code of the product by folder, and fails above the number in .size-limit. A line counts if it
// holds a part of a token that is not a comment.
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { sourceFiles } from './source-files.mjs';

const LIMIT_FILE = '.size-limit';

/** Migrations, which never change, and generated files. */
const NOT_COUNTED = /^src\/platform\/data\/migrations\/|^src\/client\/openapi\.ts$/;

/** The table has a row for each folder of at most this depth, such as `src/platform/http/request`. */
const FOLDER_DEPTH = 4;

const byFolder = new Map();
for (const file of sourceFiles().filter((name) => !NOT_COUNTED.test(name))) {
  const folder = file.split('/').slice(0, -1).slice(0, FOLDER_DEPTH).join('/');
  byFolder.set(folder, (byFolder.get(folder) ?? 0) + countLines(file));
}
for (const folder of [...byFolder.keys()].sort()) printRow(byFolder.get(folder), folder);

const total = [...byFolder.values()].reduce((sum, lines) => sum + lines, 0);
const limit = Number.parseInt(readFileSync(LIMIT_FILE, 'utf8'), 10);
printRow(total, `lines, of at most ${limit} in ${LIMIT_FILE}`);
if (!(total <= limit)) {
  console.error(
    `check:size: ${total} lines are more than ${limit}. Remove code. A commit that adds a feature may raise the number in ${LIMIT_FILE}, with the reason in its message.`,
  );
  process.exitCode = 1;
}

function countLines(file) {
  const text = readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const textLines = text.split('\n');
  const counted = new Set();
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    children.forEach(visit);
    const start = node.getStart(source);
    if (children.length > 0 || start >= node.end) return;
    for (let line = lineOf(start); line <= lineOf(node.end); line++) {
      if (textLines[line].trim() !== '') counted.add(line);
    }
  };
  visit(source);
  return counted.size;
}

function printRow(lines, label) {
  console.log(`${String(lines).padStart(7)}  ${label}`);
}
