import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadOnlyDatabase } from './read-only-database.js';

const KINDS = [
  ...(['collation', 'table', 'column', 'constraint', 'index', 'unique index', 'trigger'] as const),
  ...(['policy', 'sequence', 'function'] as const),
] as const;

/** A kind of part of a schema. Privileges are compared by a check of their own. */
export type Kind = Exclude<(typeof KINDS)[number], 'unique index'>;

/** A table, a part of one, or another object of a schema. */
export interface Part {
  readonly kind: Kind;
  /** The table that it is a part of. */
  readonly table: string | undefined;
  readonly name: string;
  /** How it is defined, without what operators may change. */
  readonly definition: string;
}

/** A difference of a database from the schema that the migrations create. */
export interface Difference {
  readonly kind: Kind;
  readonly table: string | undefined;
  readonly name: string;
  readonly expected: string | undefined;
  readonly actual: string | undefined;
}

const LINE = new RegExp(`^ *(${[...KINDS].reverse().join('|')}) (\\S+?)(?:\\((.*)\\))?(?: (.*))?$`);

/** Storage and statistics, which operators may set, and what the check of indexes reports itself. */
const TUNING =
  / with \([^)]*\)| statistics \S+| n_distinct\S*| (storage|compression) \w+| comment '.*'| invalid$/g;

/** Setting it is the answer to a search path that depends on the role. */
const SEARCH_PATH = /^ SET search_path TO .*$/;

const PICTURE = readFileSync(join(import.meta.dirname, 'schema-picture.sql'), 'utf8');

/** The parts of the schema that all migrations create. */
export function readExpectedSchema(): Map<string, Part> {
  return parsePicture(readFileSync(join(import.meta.dirname, 'schema.txt'), 'utf8').split('\n'));
}

/** The parts of the schema of a database. */
export async function readActualSchema(sql: ReadOnlyDatabase): Promise<Map<string, Part>> {
  const { schema } = await sql.readOne<{ schema: string }>(
    'select quote_ident(current_schema()) as schema',
  );
  const rows = await sql.read<{ line: string }>(PICTURE);
  return parsePicture(
    rows.map(({ line }) => line),
    schema,
  );
}

/**
 * Parses the lines of `schema-picture.sql`.
 * @param schema the schema whose name may precede those of its objects
 */
export function parsePicture(lines: readonly string[], schema = 'public'): Map<string, Part> {
  const parts = new Map<string, Part>();
  let last: Part | undefined;
  for (const given of lines.filter((each) => each !== '')) {
    const line = given.replaceAll(`${schema}.`, '');
    const isBody = last?.kind === 'function' && !line.startsWith('function ');
    if (isBody && last) {
      if (SEARCH_PATH.test(line) || line.startsWith('grant ')) continue;
      last = { ...last, definition: `${last.definition}\n${line}` };
      parts.set(keyOf(last), last);
      continue;
    }
    const found = partOf(line, last);
    if (!found) continue;
    last = found;
    parts.set(keyOf(last), last);
  }
  return parts;
}

function partOf(line: string, last: Part | undefined): Part | undefined {
  const match = LINE.exec(line);
  if (!match) return undefined;
  const [, word = '', name = '', args, rest = ''] = match;
  const table = line.startsWith(' ') ? (last?.table ?? last?.name) : undefined;
  const kind = word === 'unique index' ? 'index' : (word as Kind);
  const definition = word === 'unique index' ? `unique ${rest}` : rest;
  return {
    kind,
    table,
    name: args === undefined ? name : `${name}(${args})`,
    definition: ` ${definition}`.replace(TUNING, '').trim(),
  };
}

function keyOf({ kind, table, name }: Omit<Part, 'definition'>): string {
  return [kind, table, name].join(' ');
}

/** The condition of a trigger that compares rows has other parentheses after a dump of it was restored. */
function comparable({ kind, definition }: Part): string {
  return kind === 'trigger' ? definition.replace(/[()]/g, '') : definition;
}

/** What a database lacks, what differs in it, and what its tables of Latitude have in addition. */
export function compareSchemas(
  expected: ReadonlyMap<string, Part>,
  actual: ReadonlyMap<string, Part>,
): Difference[] {
  const differences: Difference[] = [];
  for (const [key, part] of expected) {
    const found = actual.get(key);
    // Parts of a table that is missing are missing with it.
    if (part.table !== undefined && !actual.has(`table  ${part.table}`)) continue;
    if (found && comparable(found) === comparable(part)) continue;
    differences.push(differenceOf(part, part.definition, found?.definition));
  }
  for (const [key, part] of actual) {
    if (part.table === undefined || expected.has(key)) continue;
    if (!expected.has(`table  ${part.table}`)) continue;
    differences.push(differenceOf(part, undefined, part.definition));
  }
  return differences;
}

function differenceOf(
  { kind, table, name }: Part,
  expected: string | undefined,
  actual: string | undefined,
): Difference {
  return { kind, table, name, expected, actual };
}
