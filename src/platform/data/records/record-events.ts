import { deletesSoftly, type TenantTable } from './tenant-entity.js';

/** The type of an event, such as `lead.updated`. Statements for a table without events ignore it. */
export function eventTypeOf({ events }: TenantTable, change: string): string {
  return `${events?.name}.${change}`;
}

/** The types of the events of a table's records. */
export function eventTypesOf(table: TenantTable): readonly string[] {
  if (!table.events) return [];
  const changes = ['created', 'updated', ...Object.keys(table.events.transitions ?? {})];
  if (deletesSoftly(table)) changes.push('deleted');
  return changes.map((change) => eventTypeOf(table, change));
}
