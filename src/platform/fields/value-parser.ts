import type { Type } from '@nestjs/common';
import { type Field, fieldsOf } from './field.js';

/** Converts values of parsed JSON, in place, to the types of their fields. */
export type ValueParser<T> = (json: T) => T;

/** Whether the values of a field are times. */
export function isTime({ schema }: Field): boolean {
  return schema.format === 'date-time';
}

/** Returns a function that converts the values of a DTO in parsed JSON. */
export function valueParserOf<T extends object>(dto: Type<T>): ValueParser<T> {
  const parsers = fieldsOf(dto).flatMap(({ name, parse }) =>
    parse ? [[name, parse] as const] : [],
  );
  return (json) => {
    const values = json as Record<string, unknown>;
    for (const [name, parse] of parsers) values[name] = parse(values[name]);
    return json;
  };
}
