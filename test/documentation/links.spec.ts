import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';

const ROOT = process.cwd();
const SKIPPED_FOLDERS = new Set(['.git', 'coverage', 'data', 'dist', 'node_modules']);
const TEXT_FILES = new Set(['.ts', '.mts', '.js', '.mjs', '.cjs', '.md', '.sql', '.yml', '.yaml']);

const CITATION = /docs\/contract\/([a-z-]+\.md)(#[\w-]+)?/g;
const LINK = /\]\(([^)\s]+)\)/g;
const FENCED_CODE = /^ *(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *\1[^\n]*$/gm;
const HEADING = /^#{1,6} +(.+?) *$/gm;
const SCHEME = /^[a-z][a-z+.-]*:/i;

const files = filesIn(ROOT).filter((file) => TEXT_FILES.has(extname(file)) || !extname(file));
const markdown = files.filter((file) => file.endsWith('.md'));

it.each(files.filter((file) => textOf(file).match(CITATION)).map((file) => [pathOf(file), file]))(
  '%s cites existing headings of the contract',
  (_, file) => {
    const citations = [...textOf(file).matchAll(CITATION)];
    const broken = citations.filter(([, page = '', anchor = '']) => {
      return !targetExists(join(ROOT, 'docs/contract', page), anchor);
    });
    expect(broken.map(([citation]) => citation)).toEqual([]);
  },
);

it.each(markdown.map((file) => [pathOf(file), file]))(
  '%s links to existing files and headings',
  (_, file) => {
    const links = [...proseOf(file).matchAll(LINK)].map(([, target = '']) => target);
    const broken = links.filter((link) => {
      if (SCHEME.test(link)) return false;
      const [, path = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(link) ?? [];
      const target = path === '' ? file : join(dirname(file), decodeURI(path));
      return !targetExists(target, anchor);
    });
    expect(broken).toEqual([]);
  },
);

it('forms the anchors of headings as GitHub does', () => {
  expect(anchorsOf('# Null\n## `If-Match` & [ETag](x)\n```sh\n# no\n```\n## Null')).toEqual(
    new Set(['#null', '#if-match--etag', '#null-1']),
  );
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

function targetExists(file: string, anchor: string): boolean {
  if (!existsSync(file)) return false;
  if (anchor === '' || statSync(file).isDirectory() || !file.endsWith('.md')) return true;
  return anchorsOf(textOf(file)).has(anchor);
}

/** The anchors of a document's headings, as GitHub forms them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(FENCED_CODE, '').matchAll(HEADING)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = `#${words.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')}`;
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

function proseOf(file: string): string {
  return textOf(file).replace(FENCED_CODE, '');
}

function textOf(file: string): string {
  return readFileSync(file, 'utf8');
}

function pathOf(file: string): string {
  return relative(ROOT, file);
}
