// Replaces the code blocks of the documentation that are marked with a snippet by the text of its file:
//
//   <!-- snippet: examples/messages/src/message.entity.ts -->
//   <!-- snippet: examples/messages/src/messages.controller.ts#send -->
//
// The second takes the lines between `// #region send` and `// #endregion`. With --check, it changes
// nothing and fails if a block differs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './packages.mjs';

const MARKER = '<!-- snippet:';
const SNIPPET = /(<!-- snippet: ([^\s#]+)(?:#(\S+))? -->\n\n```\w+\n)([\s\S]*?)(^```$)/gm;
const REGION = /^\s*(\/\/|#) #(region|endregion)\b.*\n/gm;

process.chdir(ROOT);
const isCheck = process.argv.includes('--check');
const docs = readdirSync('docs', { recursive: true }).map((file) => path.join('docs', file));
const outdated = ['README.md', ...docs.filter((file) => file.endsWith('.md'))].filter((file) => {
  const text = readFileSync(file, 'utf8');
  const updated = update(file, text);
  if (updated !== text && !isCheck) writeFileSync(file, updated);
  return updated !== text;
});
if (isCheck && outdated.length > 0) {
  console.error(`${outdated.join(', ')}: snippets are out of date: npm run snippets`);
  process.exitCode = 1;
}

function update(file, text) {
  let count = 0;
  const updated = text.replaceAll(SNIPPET, (_, start, source, region, _code, end) => {
    count += 1;
    return `${start}${snippetOf(source, region)}${end}`;
  });
  if (count === text.split(MARKER).length - 1) return updated;
  throw new Error(`${file} has a snippet that no code block follows`);
}

function snippetOf(source, region) {
  const text = readFileSync(path.join(ROOT, source), 'utf8');
  if (region === undefined) return text.replaceAll(REGION, '');
  const pattern = new RegExp(String.raw`^ *// #region ${region}\n([\s\S]*?)^ *// #endregion`, 'm');
  const lines = pattern.exec(text)?.[1];
  if (lines === undefined) throw new Error(`${source} has no region ${region}`);
  const indent = /^ */.exec(lines)[0];
  return lines.replaceAll(new RegExp(`^${indent}`, 'gm'), '').replaceAll(REGION, '');
}
