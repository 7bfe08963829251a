import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PACKAGE_ROOT } from '../../config/version.js';

/** Where the build writes the console. */
const DIRECTORY = join(PACKAGE_ROOT, 'dist/console');

/** A file of the console. It is compressed when it is first asked for, so that the start does not wait for it. */
class ConsoleFile {
  readonly type: string;
  readonly content: Buffer;
  private gzip: Buffer | undefined;

  constructor(name: string) {
    this.type = extname(name);
    this.content = readFileSync(join(DIRECTORY, 'assets', name));
  }

  get compressed(): Buffer {
    return (this.gzip ??= gzipSync(this.content));
  }
}

/** The files of the console, read once. A request never reads the file system. */
export class ConsoleFiles {
  private readonly template = readFileSync(join(DIRECTORY, 'index.html'), 'utf8');
  private readonly assets = new Map(
    readdirSync(join(DIRECTORY, 'assets')).map((name) => [name, new ConsoleFile(name)]),
  );

  /** @param root the relative URL of `/console/` */
  page(root: string): string {
    return this.template.replaceAll('{{root}}', root);
  }

  asset(name: string): ConsoleFile | undefined {
    return this.assets.get(name);
  }
}

/**
 * The URL of `/console/` relative to the path of a page. It is relative to work behind a proxy that adds a prefix, and it
 * is no `<base>`, which the policy forbids.
 */
export function rootOf(path: string): string {
  const folders = path.split('/').length - 3;
  return folders < 0 ? 'console/' : '../'.repeat(folders) || './';
}
