import { fieldLabel, type FieldProblem } from '../../platform/errors/field-problem.js';
import { type FilterTarget, filterTargetNamed } from '../../platform/data/filters/filter-target.js';
import { DELETED_AT } from '../../platform/data/records/tenant-entity.js';
import { matches } from '../../platform/data/filters/matches.js';
import { readFilterObject } from '../../platform/data/filters/parse-filter.js';
import {
  type DefinedFields,
  typeFilter,
  type TypedFilter,
} from '../../platform/data/filters/with-definitions.js';
import type { EventTypes } from '../events/event-types.js';
import type { RecordedEvent } from '../events/recorded-event.js';
import type { CreateWebhookDto } from './webhook.dto.js';

/** What a webhook chooses among the events of an organization. */
export type Choice = Pick<CreateWebhookDto, 'types' | 'changed' | 'filter'>;

/** What is judged of an event. */
export type JudgedEvent = Pick<RecordedEvent, 'type' | 'record' | 'changed'>;

/** Whether a webhook chooses an event of its types (docs/contract/webhooks.md#filters-and-changed-fields). */
export type Judge = (event: JudgedEvent) => boolean;

/** What the filter of a webhook is read with. */
export interface ChoiceContext {
  readonly types: EventTypes;
  /** The custom fields of the organization. */
  readonly defined: DefinedFields;
}

/** What is wrong with `filter` and `changed` of a webhook whose types are known. */
export function choiceProblems(choice: Choice, context: ChoiceContext): FieldProblem[] {
  const { filter, changed } = choice;
  const given = [filter && 'filter', changed && 'changed'].filter(
    (name) => typeof name === 'string',
  );
  if (given.length === 0) return [];
  const target = targetOf(choice, context.types);
  if (!target) return given.map((field) => ({ field, message: NEEDS_ONE_KIND }));
  const names = [...target.fields.keys()].filter((name) => !NEVER_CHANGED.includes(name));
  const unknown = changed?.find((name) => !names.includes(name));
  const message = `has ${fieldLabel(unknown ?? '', '?')}, which is no field that can change; these are ${names.join(', ')}`;
  return [
    ...(unknown === undefined ? [] : [{ field: 'changed', message }]),
    ...(filter ? readChoice(filter, target, context).problems : []),
  ];
}

/**
 * Returns the judge of a stored webhook.
 * @param region of phone numbers without a country code
 * @returns undefined if its filter is not valid any more
 */
export function judgeOf(choice: Choice, context: ChoiceContext, region: string): Judge | undefined {
  const { changed, filter } = choice;
  const target = filter && targetOf(choice, context.types);
  const conditions = target && readChoice(filter, target, context).filter;
  if (filter && !conditions) return undefined;
  return (event) =>
    (!changed || context.types.isOfTime(event.type) || hasChanged(event, changed)) &&
    (!conditions || matches(conditions, event.record, region));
}

/** The fields that no update names as changed. */
const NEVER_CHANGED: readonly string[] = ['id', 'organization_id', 'created_at', 'updated_at'];

const NEEDS_ONE_KIND =
  'needs types that are all of one kind of record: of leads, of appointments or of tasks';

/** The records that all types are about; undefined if there is none, or if they have no filters. */
function targetOf({ types: names }: Choice, types: EventTypes): FilterTarget | undefined {
  const [table, ...others] = new Set(names.map((type) => types.tableOf(type)));
  return table === undefined || others.length > 0 ? undefined : filterTargetNamed(table);
}

function readChoice(given: object, target: FilterTarget, { defined }: ChoiceContext): TypedFilter {
  const { filter, problems } = readFilterObject(given, { target, hasRelations: false });
  return filter ? typeFilter(filter, defined) : { problems };
}

/** A creation or a restore changes the fields that have a value, and a deletion is not judged by its fields. */
function hasChanged({ type, record, changed }: JudgedEvent, names: readonly string[]): boolean {
  if (type.endsWith('.deleted')) return true;
  const isThereNow = type.endsWith('.created') || changed.includes(DELETED_AT);
  if (!isThereNow) return names.some((name) => changed.includes(name));
  return names.some((name) => hasValue(record[name]));
}

function hasValue(value: unknown): boolean {
  if (typeof value !== 'object') return value !== undefined;
  return value !== null && Object.keys(value).length > 0;
}
