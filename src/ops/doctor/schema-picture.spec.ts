import { compareSchemas, parsePicture, readExpectedSchema } from './schema-picture.js';
import { remedyOf } from './schema-remedy.js';

const TABLE = [
  'table leads with (fillfactor=90) row level security forced',
  '  column notes text statistics 300',
  '  unique index leads_key USING btree (organization_id, external_id) WHERE (external_id IS NOT NULL)',
  '  trigger count AFTER INSERT ON public.leads FOR EACH ROW EXECUTE FUNCTION count_leads()',
  'function count_leads()',
  ' RETURNS trigger',
  " SET search_path TO '$user', 'public'",
  'AS $function$ begin return null; end $function$',
];

const expected = parsePicture(TABLE);

const differences = (lines: readonly string[], schema?: string) =>
  compareSchemas(expected, parsePicture(lines, schema));

it('parses every line of the schema of this version', () => {
  const parts = [...readExpectedSchema().values()];
  const tables = parts.filter(({ kind }) => kind === 'table');
  expect(tables.length).toBeGreaterThan(30);
  for (const { name } of tables) expect(name).toMatch(/^[a-z_]+$/);
  expect(parts.filter(({ kind }) => kind === 'function').at(-1)?.definition).toContain('end');
});

it('finds no difference in another schema, search path, storage or statistics', () => {
  const other = TABLE.map((line) => line.replace('public.leads', 'crm.leads'))
    .filter((line) => !line.includes('search_path'))
    .map((line) => line.replace(' statistics 300', '').replace('=90', '=50'));
  expect(differences(other, 'crm')).toEqual([]);
});

it('finds no difference in a trigger whose condition was restored from a dump', () => {
  const withCondition = (condition: string) =>
    parsePicture([
      'table leads',
      `  trigger mark BEFORE UPDATE ON public.leads FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION mark()`,
    ]);
  const original = withCondition('(((new.a <> old.a) OR (new.b <> old.b)) OR (new.c <> old.c))');
  const restored = withCondition('((new.a <> old.a) OR (new.b <> old.b) OR (new.c <> old.c))');
  const other = withCondition('((new.a <> old.a) OR (new.b <> old.b))');
  expect(compareSchemas(original, restored)).toEqual([]);
  expect(compareSchemas(original, other)).toHaveLength(1);
});

it('tells parts of its tables that it does not know from those that are missing', () => {
  const added = [...TABLE.slice(0, 2), '  column mine text', ...TABLE.slice(2)];
  const found = differences(added);
  expect(found).toMatchObject([{ kind: 'column', name: 'mine', expected: undefined }]);
});

it.each([
  [
    [...TABLE.slice(0, 2), '  constraint mine CHECK (true)', ...TABLE.slice(2)],
    'alter table leads drop constraint mine;',
  ],
  [
    TABLE.filter((line) => !line.includes('unique index')),
    'create unique index concurrently leads_key on leads USING btree (organization_id, external_id) WHERE (external_id IS NOT NULL);',
  ],
  [
    TABLE.map((line) => (line.includes('trigger count') ? `${line} disabled` : line)),
    'alter table leads enable trigger count;',
  ],
  [
    TABLE.filter((line) => !line.includes('trigger count')),
    'create trigger count AFTER INSERT ON leads FOR EACH ROW EXECUTE FUNCTION count_leads();',
  ],
  [
    TABLE.map((line) => line.replace('AFTER', 'BEFORE')),
    'drop trigger count on leads; create trigger count AFTER INSERT ON leads FOR EACH ROW EXECUTE FUNCTION count_leads();',
  ],
])('names the statement that mends a difference', (lines, remedy) => {
  expect(differences(lines).map(remedyOf)).toEqual([remedy]);
});

it('finds a function with another body, and a table without its parts', () => {
  const changed = TABLE.map((line) => line.replace('return null', 'return new'));
  expect(differences(changed)).toMatchObject([{ kind: 'function', name: 'count_leads()' }]);
  expect(differences(TABLE.slice(4))).toMatchObject([{ kind: 'table', name: 'leads' }]);
});
