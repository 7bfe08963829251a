// Bundles the console into dist/console: index.html, and assets whose names contain a hash of their content.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const ROOT = path.dirname(import.meta.dirname);
const OUTPUT = path.join(ROOT, 'dist/console');

/** The licence of Preact requires that its text accompanies its code. */
export const PREACT_LICENCE = 'preact-licence.txt';

export async function buildConsole() {
  rmSync(OUTPUT, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['console/main.tsx'],
    outdir: 'dist/console/assets',
    entryNames: '[name]-[hash]',
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    sourcemap: true,
    metafile: true,
    banner: { js: `/*! Contains Preact, MIT licence: ${PREACT_LICENCE} */` },
    logLevel: 'warning',
  });
  const names = Object.keys(metafile.outputs).map((file) => path.basename(file));
  const nameOf = (extension) => names.find((name) => name.endsWith(extension));
  const template = readFileSync(path.join(ROOT, 'console/index.html'), 'utf8');
  const page = template.replace('{{script}}', nameOf('.js')).replace('{{style}}', nameOf('.css'));
  writeFileSync(path.join(OUTPUT, 'index.html'), page);
  const licence = path.join(ROOT, 'node_modules/preact/LICENSE');
  copyFileSync(licence, path.join(OUTPUT, 'assets', PREACT_LICENCE));
}
