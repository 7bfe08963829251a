import { type FieldProblem, fieldLabel } from '../../errors/field-problem.js';
import { isObject } from '../../fields/kinds/json-object.js';
import { readCondition } from './condition.js';
import type { UntypedFilter } from './filter.js';
import type { FilterField, FilterRelation, FilterTarget } from './filter-target.js';

/** The most bytes of a filter as it is sent. */
export const MAX_FILTER_BYTES = 8192;
const MAX_DEPTH = 3;
const MAX_CONDITIONS = 25;

const JOINS = ['and', 'or', 'not'] as const;
type Join = (typeof JOINS)[number];

const TOO_DEEP = `is nested too deep; and, or, not and relations can be ${MAX_DEPTH} levels deep`;
const TOO_MANY = `is beyond the limit of ${MAX_CONDITIONS} conditions`;
const NOT_OBJECT = 'must be an object such as {"status": "open"}';
const EMPTY = 'must not be empty';

/** Which records a filter is about. */
export interface FilterScope {
  readonly target: FilterTarget;
  /** Whether it can name relations. */
  readonly hasRelations: boolean;
}

/** What a filter says, and what is wrong with it. */
export interface ReadFilter {
  /** Undefined if it has no conditions, or is invalid. */
  readonly filter?: UntypedFilter;
  readonly problems: readonly FieldProblem[];
}

/**
 * Reads a filter from a value of JSON (docs/contract/filters.md). Conditions on custom fields are read by `withDefinitions`.
 * Does not throw.
 * @param path that of the filter, which those of its parts begin with
 */
export function readFilter(given: unknown, scope: FilterScope, path = 'filter'): ReadFilter {
  if (isObject(given) && Object.keys(given).length === 0) return { problems: [] };
  const reader = new Reader();
  const filter = reader.filterOf(given, { ...scope, path, level: 0 });
  const { problems } = reader;
  return { ...(problems.length === 0 && { filter }), problems };
}

/** Like `readFilter`, for a part of a body, whose size was not measured as it was sent. */
export function readFilterObject(given: unknown, scope: FilterScope, path = 'filter'): ReadFilter {
  const bytes = Buffer.byteLength(JSON.stringify(given));
  if (bytes <= MAX_FILTER_BYTES) return readFilter(given, scope, path);
  const message = `must be at most ${MAX_FILTER_BYTES} bytes as JSON`;
  return { problems: [{ field: path, message }] };
}

/** Where a part of a filter is. */
interface Place extends FilterScope {
  readonly path: string;
  /** The number of `and`, `or`, `not` and relations around it. */
  readonly level: number;
}

/** A part of a filter; undefined if it has a problem. */
type Part = UntypedFilter | undefined;

/** Reads one filter. The number of conditions bounds its time and its problems. */
class Reader {
  readonly problems: FieldProblem[] = [];
  private conditions = 0;

  /** Reads an object, all keys of which must match. */
  filterOf(given: unknown, place: Place): Part {
    if (!isObject(given)) return this.refuse(place.path, NOT_OBJECT);
    const entries = Object.entries(given);
    if (entries.length === 0) return this.refuse(place.path, EMPTY);
    return this.join('and', place.path, entries, ([key, value]) => {
      return this.entry(key, value, { ...place, path: `${place.path}.${fieldLabel(key, '?')}` });
    });
  }

  private entry(key: string, value: unknown, place: Place): Part {
    if ((JOINS as readonly string[]).includes(key)) return this.joined(key as Join, value, place);
    const { target, hasRelations } = place;
    const relation = hasRelations ? target.relations.get(key) : undefined;
    if (relation) return this.related(relation, value, place);
    const field = fieldOf(target, key);
    if (field) return this.conditionsOf(field, value, place);
    return this.count(place.path) ? this.refuse(place.path, unknownKey(place)) : undefined;
  }

  private joined(join: Join, value: unknown, place: Place): Part {
    const { path } = place;
    const inner = this.deeper(place);
    if (!inner) return undefined;
    if (join === 'not') {
      const filter = this.filterOf(value, inner);
      return filter && { kind: 'not', filter, path };
    }
    if (!Array.isArray(value)) return this.refuse(path, 'must be an array of filters');
    if (value.length === 0) return this.refuse(path, EMPTY);
    return this.join(join, path, [...value.entries()], ([index, item]) => {
      return this.filterOf(item, { ...inner, path: `${path}[${index}]` });
    });
  }

  private related(relation: FilterRelation, value: unknown, place: Place): Part {
    const { path } = place;
    const inner = this.deeper({ ...place, target: relation.target, hasRelations: false });
    if (!inner) return undefined;
    const ofRelated = (given: unknown, at: string, isNegated = false): Part => {
      const filter = this.filterOf(given, { ...inner, path: at });
      if (!filter) return undefined;
      const related = { kind: 'related', relation, filter, path: at } as const;
      return isNegated ? { kind: 'not', filter: related, path: at } : related;
    };
    if (!relation.isMany) return ofRelated(value, path);
    const entries = isObject(value) ? Object.entries(value) : [];
    const must = 'must be {"some": filter} or {"none": filter}';
    if (entries.length === 0) return this.refuse(path, must);
    return this.join('and', path, entries, ([quantifier, given]) => {
      const at = `${path}.${fieldLabel(quantifier, '?')}`;
      if (quantifier === 'some') return ofRelated(given, at);
      if (quantifier === 'none') return ofRelated(given, at, true);
      return this.count(at) ? this.refuse(at, `is unknown; ${path} ${must}`) : undefined;
    });
  }

  private conditionsOf(field: FilterField, value: unknown, place: Place): Part {
    const { path } = place;
    if (!isObject(value)) return this.condition(field, 'eq', value, path);
    const operators = Object.entries(value);
    if (operators.length === 0) return this.refuse(path, EMPTY);
    return this.join('and', path, operators, ([operator, given]) => {
      return this.condition(field, operator, given, `${path}.${fieldLabel(operator, '?')}`);
    });
  }

  private condition(field: FilterField, operator: string, given: unknown, path: string) {
    if (!this.count(path)) return undefined;
    if (field.key !== undefined) return { kind: 'custom', field, operator, given, path } as const;
    return readCondition(field, operator, given, path, this.problems);
  }

  /** Reads parts until the filter has too many conditions. */
  private join<T>(
    kind: 'and' | 'or',
    path: string,
    parts: readonly T[],
    read: (part: T) => Part,
  ): Part {
    const filters: UntypedFilter[] = [];
    for (const part of parts) {
      if (this.isFull) return undefined;
      const filter = read(part);
      if (filter) filters.push(filter);
    }
    return filters.length === 1 ? filters[0] : { kind, filters, path };
  }

  /** @returns undefined if it is too deep */
  private deeper(place: Place): Place | undefined {
    if (place.level < MAX_DEPTH) return { ...place, level: place.level + 1 };
    this.refuse(place.path, TOO_DEEP);
    return undefined;
  }

  /** Counts a condition. @returns whether the filter can have it */
  private count(path: string): boolean {
    this.conditions++;
    if (!this.isFull) return true;
    if (this.conditions === MAX_CONDITIONS + 1)
      this.problems.push({ field: path, message: TOO_MANY });
    return false;
  }

  private get isFull(): boolean {
    return this.conditions > MAX_CONDITIONS || this.problems.length > MAX_CONDITIONS;
  }

  private refuse(path: string, message: string): Part {
    this.problems.push({ field: path, message });
    return undefined;
  }
}

/** The scopes that the relations of a filter need. */
export function scopesOfFilter(filter: UntypedFilter): string[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.flatMap(scopesOfFilter);
    case 'not':
      return scopesOfFilter(filter.filter);
    case 'related':
      return [filter.relation.scope];
    default:
      return [];
  }
}

/** A field of the records, or a custom field, whose kind is not known yet. */
function fieldOf({ fields, customFields }: FilterTarget, name: string): FilterField | undefined {
  const known = fields.get(name);
  if (known || customFields === undefined) return known;
  const prefix = `${customFields}.`;
  if (!name.startsWith(prefix) || name === prefix) return undefined;
  return { name, kind: 'json', column: customFields, key: name.slice(prefix.length) };
}

function unknownKey({ target, hasRelations }: Place): string {
  const { fields, customFields, relations } = target;
  const names = [...fields.keys(), ...(customFields === undefined ? [] : [`${customFields}.KEY`])];
  const related = hasRelations ? [...relations.keys()] : [];
  const others = related.length > 0 ? `, the relations are ${related.join(', ')}` : '';
  return `is unknown; the fields are ${names.join(', ')}${others}, and ${JOINS.join(', ')} join filters`;
}
