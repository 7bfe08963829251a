import { Value } from '../components/text.js';
import { Time } from '../components/time.js';
import type { FieldSpec } from '../forms/kinds.js';
import type { ListColumn } from './record-list.js';

/** Columns for fields of records, which show their values. @param labels by the name of the field */
export function columnsOf<Row extends object, Name extends keyof Row & string>(
  labels: Readonly<Record<Name, string>>,
) {
  const column = (name: Name, isUsual = false): ListColumn<Row> => ({
    name,
    label: labels[name],
    fields: [name],
    isUsual,
    cell: (row) => <Value value={row[name]} />,
  });
  /** A column by which the list can be sorted. */
  const time = (name: Name, isUsual = false): ListColumn<Row> => ({
    ...column(name, isUsual),
    sortBy: name,
    cell: (row) => {
      const value = row[name];
      return typeof value === 'string' ? <Time value={value} /> : <Value value={value} />;
    },
  });
  return { column, time };
}

/** Filters by time. @param labels by the name of the parameter, such as `created_after` */
export function timeFilters(labels: Readonly<Record<string, string>>): readonly FieldSpec[] {
  return Object.entries(labels).map(([name, label]) => ({ name, label, kind: 'time' }));
}
