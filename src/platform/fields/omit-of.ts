import type { Type } from '@nestjs/common';
import { namesOf, PickOf } from './field.js';

/** A DTO without some fields of another one. */
export function OmitOf<T extends object, K extends keyof T & string>(
  dto: Type<T>,
  names: readonly K[],
): Type<Omit<T, K>> {
  const rest = namesOf(dto).filter((name) => !names.includes(name as K));
  return PickOf(dto, rest as (keyof T & string)[]) as Type<Omit<T, K>>;
}
