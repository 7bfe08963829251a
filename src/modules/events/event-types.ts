import { Injectable, type OnModuleInit } from '@nestjs/common';
import { isScope, type Scope } from '../../platform/access/scopes.js';
import {
  eventTypeOf,
  eventTypesOf,
  type TenantTable,
} from '../../platform/data/records/tenant-entity.js';
import { TenantTables } from '../../platform/data/records/tenant-tables.service.js';

/** The types of events that no table declares. */
const ADMINISTRATIVE: readonly (readonly [type: string, scope: Scope])[] = [
  ['organization.updated', 'events:read'],
];

/**
 * The types of events that tables declare and those of organizations, each with the scope that reads its records, in
 * addition to `events:read`.
 */
@Injectable()
export class EventTypes implements OnModuleInit {
  private readonly scopes = new Map(ADMINISTRATIVE);
  private readonly tables = new Map<string, string>();
  private readonly ofTime = new Set<string>();

  constructor(private readonly tenantTables: TenantTables) {}

  /** @throws Error if two tables declare the same type, or the scope of a table does not exist */
  onModuleInit(): void {
    for (const table of this.tenantTables.all) {
      for (const type of eventTypesOf(table)) {
        if (this.scopes.has(type)) {
          throw new Error(`Two tables declare events of the type ${type}.`);
        }
        this.scopes.set(type, scopeOf(table));
        this.tables.set(type, table.name);
      }
      for (const change of Object.keys(table.events?.scheduled ?? {})) {
        this.ofTime.add(eventTypeOf(table, change));
      }
    }
  }

  /** All types, sorted. */
  get all(): string[] {
    return [...this.scopes.keys()].sort();
  }

  /** The types whose records a caller with these scopes may read. */
  readableBy(scopes: ReadonlySet<string>): string[] {
    return this.all.filter((type) => scopes.has(this.scopes.get(type) ?? ''));
  }

  /** The scope that reads the records of a type; undefined for an unknown type. */
  scopeOf(type: string): Scope | undefined {
    return this.scopes.get(type);
  }

  /** The table of the records of a type; undefined for an unknown type, and for those that no table declares. */
  tableOf(type: string): string | undefined {
    return this.tables.get(type);
  }

  /** Whether events of a type are about a moment and not about a change. */
  isOfTime(type: string): boolean {
    return this.ofTime.has(type);
  }

  /**
   * @param subject the declaration of the types, as the error names it
   * @throws Error that names the first unknown type
   */
  assertKnown(types: readonly string[], subject: string): void {
    const unknown = types.find((type) => !this.scopes.has(type));
    if (unknown === undefined) return;
    throw new Error(
      `${subject} names the unknown event type ${unknown}. The event types are ${this.all.join(', ')}.`,
    );
  }
}

function scopeOf({ name, events }: TenantTable): Scope {
  const scope = events?.scope ?? `${name}:read`;
  if (isScope(scope)) return scope;
  throw new Error(
    `The events of the table ${name} require the scope ${scope}, which does not exist: declare it in the extension, or name another one as events.scope.`,
  );
}
