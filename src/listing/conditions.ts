import type { Tenant } from '../database/gateway/tenant.js';

/** A column that must have the value of a parameter, which is SQL of the column's type. */
export interface Equality {
  readonly column: string;
  readonly parameter: string;
}

/** Conditions on the records of an organization, joined by AND, with their parameters. */
export class Conditions {
  readonly values: unknown[];
  /** The condition of all of an organization's records. */
  readonly scopeSql: string;
  private readonly clauses: string[] = [];
  private readonly equalities: Equality[] = [];
  private others = 0;
  private hasSearch = false;

  constructor(
    readonly tenant: Tenant,
    live = 'true',
  ) {
    this.values = [tenant.id];
    this.scopeSql = ['organization_id = $1', ...(live === 'true' ? [] : [live])].join(' and ');
  }

  /** Only records that have this value, unless there is none. */
  equal(column: string, value: unknown, type: 'text' | 'uuid' = 'text'): this {
    if (value === undefined) return this;
    const parameter = `${this.parameter(value)}::${type}`;
    this.equalities.push({ column, parameter });
    this.clauses.push(`${column} = ${parameter}`);
    return this;
  }

  /** Adds `clause` with its `?` as the value's parameter, unless there is no value. */
  add(clause: string, value: unknown): this {
    if (value === undefined) return this;
    this.others += 1;
    this.clauses.push(clause.replace('?', this.parameter(value)));
    return this;
  }

  parameter(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Only records that contain a text, which a look at each one finds as well as an index. */
  search(clause: string): void {
    this.hasSearch = true;
    this.others += 1;
    this.clauses.push(clause);
  }

  get sql(): string {
    return [this.scopeSql, ...this.clauses].join(' and ');
  }

  /** What is asked of the records in `scope`. */
  get filterSql(): string {
    return ['true', ...this.clauses].join(' and ');
  }

  /** Whether a text is looked for. */
  get isSearch(): boolean {
    return this.hasSearch;
  }

  /** Whether they ask for all of an organization's records. */
  get isEmpty(): boolean {
    return this.others === 0 && this.equalities.length === 0;
  }

  /** The value that alone is asked for; undefined where anything else is. */
  get soleEquality(): Equality | undefined {
    return this.others === 0 && this.equalities.length === 1 ? this.equalities[0] : undefined;
  }
}
