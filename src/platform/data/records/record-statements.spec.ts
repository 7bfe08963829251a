import { IdDto } from '../../fields/id.dto.js';
import { RecordColumns } from './stored-record.js';
import { RecordStatements } from './record-statements.js';
import { TenantEntity, tableOf } from './tenant-entity.js';

@TenantEntity('quotes', { events: { name: 'quote' } })
class Quote extends IdDto {}

const columnsOf = (n: number) => [`column_${n}`];
let statements: RecordStatements;

beforeEach(() => {
  statements = new RecordStatements(tableOf(Quote), new RecordColumns(Quote), 1);
});

it('prepares the updates of a limited number of sets of columns', () => {
  const planOf = (n: number) => statements.update(columnsOf(n)).plan;
  const plans = Array.from({ length: 150 }, (_, n) => planOf(n));
  expect(plans.filter((plan) => plan === 'index')).toHaveLength(100);
  expect(plans.at(-1)).toBe('custom');
  expect(planOf(0)).toBe('index');
});

it('has one SQL for the same columns, so that each connection prepares it once', () => {
  expect(statements.insert(columnsOf(1))).toBe(statements.insert(columnsOf(1)));
  expect(statements.update(columnsOf(1)).text).toBe(statements.update(columnsOf(1)).text);
  expect(statements.insert(columnsOf(1), { omitsDuplicates: true })).not.toBe(
    statements.insert(columnsOf(1)),
  );
});
