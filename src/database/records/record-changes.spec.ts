import { leadsTable } from '../../leads/leads.table.js';
import { LeadDto } from '../../leads/lead.dto.js';
import { RecordColumns } from './record-columns.js';
import { changeItemOf, RecordChanges } from './record-changes.js';
import { EventSql } from './record-events.js';

const columns = new RecordColumns(LeadDto, {});
const changes = new RecordChanges(leadsTable, columns, new EventSql(leadsTable, columns, 1));
const event = { type: 'lead.deleted', changed: [], origin: undefined };

it('changes records in the order of their ids, so that batches lock them in one order', () => {
  const items = ['c', 'a', 'b'].map((id) => changeItemOf(id, {}, event));
  const { values, repeats = [] } = changes.delete.of('organization', items);
  // The repeats are executed before the values.
  expect([...repeats, values].map(([, id]) => id)).toEqual(['a', 'b', 'c']);
});
