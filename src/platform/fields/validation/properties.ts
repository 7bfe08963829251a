import type { Type } from '@nestjs/common';
import { isUpdate, namesOf } from '../field.js';
import { rulesOf } from './rule-metadata.js';

/** The properties of each DTO. class-validator searches the rules of all classes for those of one. */
const properties = new WeakMap<Type<object>, readonly string[]>();

/** The names of all properties of a DTO that have a field or a rule of class-validator. */
export function propertiesOf(dto: Type<object>): readonly string[] {
  const known = properties.get(dto) ?? [
    ...new Set([...namesOf(dto), ...rulesOf(dto).map(({ propertyName }) => propertyName)]),
  ];
  properties.set(dto, known);
  return known;
}

/** Whether a DTO declares properties, so that an input can be checked against it. */
export function isReadable(dto: Type<object>): boolean {
  return isUpdate(dto) || propertiesOf(dto).length > 0;
}

/** Whether a DTO has properties that are not fields, so that `readClass` of `platform/nest` must read it. */
export function hasPlainProperties(dto: Type<object>): boolean {
  return propertiesOf(dto).length > namesOf(dto).length;
}

/**
 * Checks that all properties of a DTO are fields, from which schemas are derived.
 * @param subject the declaration that has the DTO, such as `The tool send_message`
 * @throws Error that names the other properties
 */
export function assertOnlyFields(subject: string, dto: Type<object>): void {
  const fields = new Set(namesOf(dto));
  const others = propertiesOf(dto).filter((name) => !fields.has(name));
  if (others.length === 0) return;
  throw new Error(
    `${subject} takes ${dto.name}, whose properties ${others.join(', ')} have no schema. Declare them with fields such as @Text().`,
  );
}
