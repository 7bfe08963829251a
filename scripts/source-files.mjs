// The files that make the product: tracked code in src without tests and the test kit.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const CODE = /\.(ts|mts|js|mjs)$/;
const TEST = /\.spec\.ts$|^src\/testing\//;

export function sourceFiles() {
  const tracked = execFileSync('git', ['ls-files', '-z', 'src'], { encoding: 'utf8' }).split('\0');
  return tracked.filter((file) => CODE.test(file) && !TEST.test(file) && existsSync(file));
}
