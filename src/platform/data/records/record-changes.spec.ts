import { IdDto } from '../../fields/id.dto.js';
import { RecordColumns } from './record-columns.js';
import { changeItemOf, RecordChanges } from './record-changes.js';
import { EventSql } from './record-events.js';
import { tenantTable } from './tenant-table.js';

const table = tenantTable('quotes', { events: { name: 'quote' } });
const columns = new RecordColumns(IdDto, {});
const changes = new RecordChanges(table, columns, new EventSql(table, columns, 1));
const event = { type: 'quote.deleted', changed: [], origin: undefined };

it('changes records in the order of their ids, so that batches lock them in one order', () => {
  const items = ['c', 'a', 'b'].map((id) => changeItemOf(id, {}, event));
  const { values, repeats = [] } = changes.delete.of('organization', items, false);
  // The repeats are executed first.
  expect([...repeats, values].map(([, id]) => id)).toEqual(['a', 'b', 'c']);
});

it('prepares the updates of a limited number of sets of columns', () => {
  const planOf = (n: number) => {
    const statement = changes.update([`column_${n}`]);
    return statement.of('organization', [changeItemOf('a', {}, event)], true).plan;
  };
  const plans = Array.from({ length: 150 }, (_, n) => planOf(n));
  expect(plans.filter((plan) => plan === 'index')).toHaveLength(100);
  expect(plans.at(-1)).toBe('custom');
  expect(planOf(0)).toBe('index');
});
