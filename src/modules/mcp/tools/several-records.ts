import type { Type } from '@nestjs/common';
import {
  type BatchOutcome,
  type BatchResultDto,
  ListOfUnread,
  MAX_ITEMS,
} from '../../../platform/data/batches/batch.dto.js';
import { type ItemDtos, itemDtosOf } from '../../../platform/data/batches/batch-item.js';
import type { BatchRunner } from '../../../platform/data/batches/batch-runner.js';
import {
  type BatchCall,
  type BatchTarget,
  withUpdate,
} from '../../../platform/data/batches/batch-target.js';
import type { Call } from '../../../platform/data/call.js';
import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { clearableFieldsOf } from '../../../platform/fields/field.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import { Integer } from '../../../platform/fields/kinds/kinds.js';
import { outputField } from '../../../platform/fields/kinds/output-kinds.js';
import { FurtherRule } from '../../../platform/fields/field.js';
import { problemRule } from '../../../platform/fields/kinds/rules.js';
import { UUID_SCHEMA } from '../../../platform/fields/kinds/uuid.js';
import { jsonSchemaOf } from '../../../platform/fields/schema/schema-of.js';
import { CLEAR, ClearedFields } from './built-in-arguments.js';
import { nullsRemoved } from './tool-arguments.js';

/** How many records a tool takes. */
const MAX_RECORDS = 25;

/** The records that a tool creates, with the parameters of the tool that creates one. */
export function CreatedRecords(create: Type<object>, description: string, example: object[]) {
  const declaration = { required: true, description, example };
  return ListOfUnread(jsonSchemaOf(create, 'input'), MAX_RECORDS, declaration);
}

/**
 * The records that a tool updates, each with the parameters of the tool that updates one.
 * @param update of `UpdateItemOf`
 */
export function UpdatedRecords(update: Type<object>, description: string, example: object[]) {
  const { properties, ...schema } = jsonSchemaOf(update, 'input');
  const items = { ...schema, properties: { id: UUID_SCHEMA, ...properties }, required: ['id'] };
  return ListOfUnread(items, MAX_RECORDS, { required: true, description, example });
}

/** An update that empties the fields which `clear` names. */
export interface Clearing {
  readonly clear?: readonly string[];
}

/** The DTO of an update with `clear`, as the tool that updates one record has it. */
export function UpdateItemOf<T extends object>(update: Type<T>): Type<T & Clearing> {
  class UpdateItem extends (update as Type<object>) {}
  const decorators = [
    ClearedFields(clearableFieldsOf(update)),
    // `itemOf` sets the fields to null that are to be emptied, so that rules about several fields see them.
    FurtherRule(
      problemRule('isNotGiven', (names, item) => {
        const given = ([names].flat() as string[]).find((name) => (item[name] ?? null) !== null);
        return given === undefined ? undefined : `must not name ${given}, which is given`;
      }),
    ),
  ];
  for (const decorate of decorators) decorate(UpdateItem.prototype, CLEAR);
  return UpdateItem as Type<T & Clearing>;
}

/** How `updateSeveral` reads records. */
interface RecordUpdates {
  readonly items: ItemDtos;
  /** The fields that `clear` can name. */
  readonly clearable: readonly string[];
}

/** @param item of `UpdateItemOf` */
export function updatesOf(item: Type<Clearing>): RecordUpdates {
  const { update } = itemDtosOf(item, item);
  return { items: { update }, clearable: clearableFieldsOf(item) };
}

/** The answer of a tool that creates or updates several records. */
export class ResultsDto {
  @outputField(
    { type: 'array', items: { type: 'object' } },
    { description: 'The id or the error of each record, in order.' },
  )
  results: readonly Partial<BatchResultDto>[];
  @Integer({ min: 0, max: MAX_ITEMS, required: true, description: 'Records that failed.' })
  failed: number;
}

/** The results of a batch that creates records. A record that was not created has no id. */
export function creationResultsOf({ results, meta }: BatchOutcome): ResultsDto {
  const resultOf = ({ index, id, error }: BatchResultDto) =>
    error ? { index, error: withoutPaths(error) } : { index, id };
  return { results: results.map(resultOf), failed: meta.failed };
}

/**
 * Updates each record on its own.
 * @param records values of `UpdatedRecords`
 * @throws ApiError `create_failed`
 */
export async function updateSeveral<C extends object, U extends object>(
  batches: BatchRunner,
  call: Call,
  records: readonly unknown[],
  { clearable, ...target }: BatchTarget<C, U> & RecordUpdates,
): Promise<ResultsDto> {
  const update = (inner: BatchCall, id: string, { clear: _, ...changes }: U & Clearing) =>
    target.service.update(inner, id, changes as unknown as U);
  const { results, meta } = await batches.run(
    call,
    { atomic: false, items: records.map((record) => itemOf(record, clearable)) },
    { ...target, service: withUpdate(target.service, update) },
  );
  const resultOf = ({ index, id, status, error }: BatchResultDto) =>
    error ? { index, id, error: withoutPaths(error) } : { index, id, status };
  return { results: results.map(resultOf), failed: meta.failed };
}

/** The item of a batch. A null parameter counts as missing, and a field that `clear` names is null. */
function itemOf(record: unknown, clearable: readonly string[]): unknown {
  if (!isObject(record)) return record;
  const { id, ...data } = record;
  const named = Array.isArray(data.clear) ? (data.clear as readonly unknown[]) : [];
  const cleared = clearable.filter((name) => named.includes(name));
  const nulls = Object.fromEntries(cleared.map((name) => [name, null] as const));
  return { action: 'update', id, data: { ...nulls, ...(nullsRemoved(data) as object) } };
}

/** The error of an item, which names the parameters of the record. */
function withoutPaths(error: object): object {
  const { message, details, ...others } = error as { message: string; details?: FieldProblem[] };
  const named = details?.map((detail) => ({
    ...detail,
    field: detail.field.replace(DATA, ''),
    message: inParameters(detail.message),
  }));
  return { ...others, message: inParameters(message), ...(named && { details: named }) };
}

/** The path of the fields of an item, at the start of a text or of its next problem. */
const DATA = /(?<=^|; )data\./g;

function inParameters(text: string): string {
  return text.replaceAll(DATA, '').replace('the fields are', 'the parameters are');
}
