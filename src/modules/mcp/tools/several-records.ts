import type { Type } from '@nestjs/common';
import {
  type BatchOutcome,
  type BatchResultDto,
  ListOfUnread,
  MAX_ITEMS,
} from '../../../platform/data/batches/batch.dto.js';
import type { BatchRunner } from '../../../platform/data/batches/batch-runner.js';
import {
  type BatchCall,
  type BatchTarget,
  withUpdates,
} from '../../../platform/data/batches/batch-target.js';
import type { Call } from '../../../platform/data/call.js';
import { clearableFieldsOf } from '../../../platform/fields/field.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import { Integer } from '../../../platform/fields/kinds/kinds.js';
import { outputField } from '../../../platform/fields/kinds/output-kinds.js';
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
    problemRule('isNotGiven', (names, item) => {
      const given = ([names].flat() as string[]).find((name) => item[name] !== undefined);
      return given === undefined ? undefined : `must not name ${given}, which is given`;
    }),
  ];
  for (const decorate of decorators) decorate(UpdateItem.prototype, CLEAR);
  return UpdateItem as Type<T & Clearing>;
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
 * @param target whose update items have the DTO of `UpdateItemOf`
 * @throws ApiError `create_failed`
 */
export async function updateSeveral<C extends object, U extends object>(
  batches: BatchRunner,
  call: Call,
  records: readonly unknown[],
  target: BatchTarget<C, U>,
): Promise<ResultsDto> {
  const updateStored = (inner: BatchCall, id: string, { clear = [], ...changes }: U & Clearing) => {
    const cleared = Object.fromEntries(clear.map((name) => [name, null]));
    return target.service.updateStored(inner, id, { ...cleared, ...changes } as unknown as U);
  };
  const { results, meta } = await batches.run(
    call,
    { atomic: false, items: records.map(itemOf) },
    { ...target, service: withUpdates(target.service, updateStored) },
  );
  const resultOf = ({ index, id, status, error }: BatchResultDto) =>
    error ? { index, id, error: withoutPaths(error) } : { index, id, status };
  return { results: results.map(resultOf), failed: meta.failed };
}

/** The item of a batch. A null parameter counts as missing. */
function itemOf(record: unknown): unknown {
  if (!isObject(record)) return record;
  const { id, ...data } = record;
  return { action: 'update', id, data: nullsRemoved(data) };
}

/** The error of an item, whose details name the parameters of the record. */
function withoutPaths(error: object): object {
  const { details, ...others } = error as { details?: readonly { field: string }[] };
  const named = details?.map((detail) => ({
    ...detail,
    field: detail.field.replace(/^data\./, ''),
  }));
  return { ...others, ...(named && { details: named }) };
}
