import type { Type } from '@nestjs/common';
import { type ApiError, validationError } from '../../errors/api-error.js';
import { declareField } from '../../fields/field.js';
import { readInput } from '../../fields/input/read-input.js';
import { isObject } from '../../fields/kinds/json-object.js';
import { Uuid } from '../../fields/kinds/kinds.js';
import { textRule } from '../../fields/kinds/rules.js';
import { NestedInput } from '../../fields/nested.js';
import type { Precondition } from '../call.js';
import { isTagList, preconditionOfTags, TAGS_PROBLEM } from '../entity-tags.js';

export type BatchAction = 'create' | 'update' | 'upsert' | 'delete';

/** The DTO of the items with an action, without the action. */
export type ItemDtos = Readonly<Partial<Record<BatchAction, Type<object>>>>;

/** An item that was read. */
export interface BatchItem {
  readonly action: BatchAction;
  /** The record of an update or a delete. */
  readonly id?: string;
  readonly precondition?: Precondition;
  /** The values of the DTO. */
  readonly values: { readonly data: object };
}

function EntityTags(): PropertyDecorator {
  return declareField(
    {},
    {
      schema: { type: 'string' },
      rules: [textRule('isTagList', (text) => (isTagList(text) ? undefined : TAGS_PROBLEM))],
      normalize: (value) => (typeof value === 'string' ? value.trim() : value),
    },
  );
}

/**
 * The DTOs of items that do what requests for one record do.
 * @param create DTO of a create
 * @param update DTO of an update
 */
export function itemDtosOf(create: Type<object>, update: Type<object>): ItemDtos {
  class CreateItem {
    @NestedInput(create, { required: true }) data: object;
  }
  class DeleteItem {
    @Uuid({ required: true }) id: string;
    @EntityTags() if_match?: string;
  }
  class UpdateItem extends DeleteItem {
    @NestedInput(update, { required: true }) data: object;
  }
  return { create: CreateItem, update: UpdateItem, delete: DeleteItem };
}

/** Reads an item. @returns the error that a request for one record would have */
export function readItem(dtos: ItemDtos, plain: unknown): BatchItem | ApiError {
  if (!isObject(plain)) return validationError([{ field: 'body', message: 'must be an object' }]);
  const { action: name, ...others } = plain;
  const action = Object.keys(dtos).find((each) => each === name) as BatchAction | undefined;
  const dto = action && dtos[action];
  if (!action || !dto) {
    const message = `must be one of ${Object.keys(dtos).join(', ')}`;
    return validationError([{ field: 'action', message }]);
  }
  const given = Object.entries(others).filter(([, value]) => value !== null);
  const { value, problems } = readInput(dto, Object.fromEntries(given));
  if (problems.length > 0) return validationError(problems);
  const { id, if_match } = value as { id?: string; if_match?: string };
  const precondition = preconditionOfTags(if_match);
  return { action, id, precondition, values: value as BatchItem['values'] };
}
