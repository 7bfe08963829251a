// Fails if the files of the console are larger than the limit: gzip -9, all files without source maps.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMIT_BYTES = 61_440;
const DIRECTORY = path.join(path.dirname(import.meta.dirname), 'dist/console');

const files = readdirSync(DIRECTORY, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
  .map(({ parentPath, name }) => path.join(parentPath, name));
let total = 0;
for (const file of files) {
  const { length } = gzipSync(readFileSync(file), { level: 9 });
  total += length;
  console.log(`${String(length).padStart(7)}  ${path.relative(DIRECTORY, file)}`);
}
console.log(`${String(total).padStart(7)}  bytes, of at most ${LIMIT_BYTES}`);
if (files.length === 0 || total > LIMIT_BYTES) {
  console.error(
    `check:console: ${total} bytes are more than ${LIMIT_BYTES}. Remove code of console.`,
  );
  process.exitCode = 1;
}
