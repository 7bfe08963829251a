import type { FieldProblem } from '../../errors/field-problem.js';
import type { TenantCall } from '../call.js';
import type { Cursor } from './cursor.js';
import type { Order } from './order.js';

/** A column that must equal a parameter, which is SQL with the type of the column. */
export interface Equality {
  readonly column: string;
  readonly parameter: string;
}

/** The filters by the time of the last change. */
export interface UpdatedWithin {
  readonly updated_after?: Date;
  readonly updated_before?: Date;
}

/** Builds the conditions on the records of an organization, joined by AND, and their parameters. */
export class Conditions {
  readonly values: unknown[];
  /** SQL condition of all records of the organization. */
  readonly scopeSql: string;
  private readonly clauses: string[] = [];
  private readonly equalities: Equality[] = [];
  private readonly times: string[] = [];
  private readonly unserved: FieldProblem[] = [];
  private hasSearch = false;
  private hasBroad = false;

  /** @param notDeleted SQL condition of records that are not deleted, as in `TenantTable`; `true` if all are shown */
  constructor(
    readonly call: TenantCall,
    notDeleted = 'true',
  ) {
    this.values = [call.tenant.id];
    const scope = 'organization_id = $1';
    this.scopeSql = notDeleted === 'true' ? scope : `${scope} and ${notDeleted}`;
  }

  /** Selects records with this value in a column. An undefined value adds no condition. */
  equal(column: string, value: unknown, type: 'text' | 'uuid' = 'text'): this {
    if (value === undefined) return this;
    const parameter = `${this.parameter(value)}::${type}`;
    this.equalities.push({ column, parameter });
    this.clauses.push(`${column} = ${parameter}`);
    return this;
  }

  /** Adds a clause whose `?` becomes the parameter of the value. An undefined value adds no condition. */
  add(clause: string, value: unknown): this {
    if (value === undefined) return this;
    this.clauses.push(clause.replace('?', this.parameter(value)));
    return this;
  }

  /** Selects records by the time of their last change. */
  updatedWithin({ updated_after, updated_before }: UpdatedWithin): this {
    if (updated_after) this.updated(`updated_at >= ${this.parameter(updated_after)}`);
    if (updated_before) this.updated(`updated_at < ${this.parameter(updated_before)}`);
    return this;
  }

  /** Adds a clause on `updated_at` alone. */
  updated(clause: string): void {
    this.times.push(clause);
  }

  /** Selects records that follow that of a cursor in the order of a time. */
  after({ time, id }: Cursor, { column, direction }: Order): void {
    const position = `${this.parameter(time)}::timestamptz, ${this.parameter(id)}::uuid`;
    this.clauses.push(`(${column}, id) ${direction === 'asc' ? '>' : '<'} (${position})`);
  }

  /** Adds a value. @returns the name of its parameter, such as `$2` */
  parameter(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Adds the clause of a search. Unlike other clauses, its plan depends on the size of the organization. */
  search(clause: string): void {
    this.hasSearch = true;
    this.clauses.push(clause);
  }

  /** Adds a clause. */
  and(clause: string): void {
    this.clauses.push(clause);
  }

  /**
   * Adds a clause of a filter that no index alone may serve.
   * @param unserved its conditions that no index serves, by their paths
   */
  broad(clause: string, unserved: readonly FieldProblem[]): void {
    this.hasBroad = true;
    this.unserved.push(...unserved);
    this.clauses.push(clause);
  }

  get sql(): string {
    return [this.scopeSql, ...this.clauses, ...this.times].join(' and ');
  }

  /** SQL of the conditions without those in `scopeSql`, to filter all records of the organization. */
  get filterSql(): string {
    return ['true', ...this.clauses, ...this.times].join(' and ');
  }

  /** SQL of the conditions without those on the time of the last change. */
  get sqlWithoutTimes(): string {
    return [this.scopeSql, ...this.clauses].join(' and ');
  }

  /** SQL of the conditions on the time of the last change. */
  get timesSql(): string {
    return ['organization_id = $1', ...this.times].join(' and ');
  }

  /** Whether records are selected by the time of their last change. */
  get hasTimes(): boolean {
    return this.times.length > 0;
  }

  /** Whether there are no conditions but those on the time of the last change. */
  get hasTimesOnly(): boolean {
    return this.clauses.length === 0;
  }

  /** Whether a search was added. */
  get isSearch(): boolean {
    return this.hasSearch;
  }

  /** Whether it may take reading all records of the organization to find those that are selected. */
  get isBroad(): boolean {
    return this.hasBroad;
  }

  /** The conditions that no index serves, by their paths. */
  get unservedConditions(): readonly FieldProblem[] {
    return this.unserved;
  }

  /** Whether all records of the organization are selected. */
  get isEmpty(): boolean {
    return this.clauses.length === 0 && !this.hasTimes;
  }

  /** The only condition, if it is an equality. Its total can be read from the counts of records. */
  get soleEquality(): Equality | undefined {
    return this.clauses.length === 1 && !this.hasTimes ? this.equalities[0] : undefined;
  }
}
