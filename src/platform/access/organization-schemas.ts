import { Injectable } from '@nestjs/common';
import type { Call } from '../data/call.js';
import { isObject } from '../fields/kinds/json-object.js';
import type { JsonSchema } from '../fields/schema/json-schema.js';

/** Returns the schema of a field for the organization of a call; undefined if it is that of all organizations. */
type Describe = (call: Call) => Promise<JsonSchema | undefined>;

/** The schemas of fields whose values an organization defines, such as its custom fields. */
@Injectable()
export class OrganizationSchemas {
  private readonly describers = new Map<string, Describe>();

  /** @param field the name of the field in all schemas */
  add(field: string, describe: Describe): void {
    this.describers.set(field, describe);
  }

  /**
   * Describes the fields of an organization in schemas, or in a document that has schemas.
   * @returns undefined if the organization defines nothing
   * @throws ApiError `query_failed`
   */
  async applyTo<T extends object>(call: Call, schemasOf: () => T): Promise<T | undefined> {
    let described: T | undefined;
    for (const [field, describe] of this.describers) {
      const schema = await describe(call);
      if (schema) described = withField(described ?? schemasOf(), field, schema) as T;
    }
    return described;
  }
}

/** Replaces the keywords of a property in all schemas of objects that have it. */
function withField(value: unknown, field: string, schema: JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((each) => withField(each, field, schema));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    const own = name === 'properties' && isObject(inner) ? inner[field] : undefined;
    const isField = isObject(own) && [own.type].flat().includes('object');
    const changed = isField ? { ...(inner as object), [field]: { ...own, ...schema } } : inner;
    return [name, isField ? changed : withField(changed, field, schema)];
  });
  return Object.fromEntries(entries);
}
