import { Injectable, type OnModuleInit } from '@nestjs/common';
import { isScope, type Scope } from '../../platform/access/scopes.js';
import { eventTypesOf } from '../../platform/data/records/record-events.js';
import type { TenantTable } from '../../platform/data/records/tenant-entity.js';
import { TenantTables } from '../../platform/data/records/tenant-tables.service.js';

/** The types of events that tables declare, each with the scope that reads its records. */
@Injectable()
export class EventTypes implements OnModuleInit {
  private scopes: ReadonlyMap<string, Scope> = new Map();

  constructor(private readonly tables: TenantTables) {}

  /** @throws Error if two tables declare the same type, or the scope of a table does not exist */
  onModuleInit(): void {
    const scopes = new Map<string, Scope>();
    for (const table of this.tables.all) {
      for (const type of eventTypesOf(table)) {
        if (scopes.has(type)) throw new Error(`Two tables declare events of the type ${type}.`);
        scopes.set(type, scopeOf(table));
      }
    }
    this.scopes = scopes;
  }

  /** All types, sorted. */
  get all(): string[] {
    return [...this.scopes.keys()].sort();
  }

  /** @param kind such as `lead` */
  ofKind(kind: string): string[] {
    return this.all.filter((type) => type.startsWith(`${kind}.`));
  }

  /** The types whose records a caller with these scopes may read. */
  readableBy(scopes: ReadonlySet<string>): string[] {
    return this.all.filter((type) => scopes.has(this.scopes.get(type) ?? ''));
  }

  /** The scope that reads the records of a type; undefined for an unknown type. */
  scopeOf(type: string): Scope | undefined {
    return this.scopes.get(type);
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
