import type { JsonSchema } from '../../fields/schema/json-schema.js';

/**
 * Moves defaults to the descriptions, at any depth. openapi-typescript makes properties with a default
 * required, so that clients would have to send them.
 */
export function withoutDefaults({ properties, ...schema }: JsonSchema): JsonSchema {
  const described = Object.entries(properties ?? {}).map(
    ([name, { default: value, ...property }]): [string, JsonSchema] => {
      const inner = withoutDefaults(property);
      if (value === undefined) return [name, inner];
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const description = [inner.description, `Default: \`${text}\`.`].filter(Boolean).join(' ');
      return [name, { ...inner, description }];
    },
  );
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(described) }),
    ...(schema.items && { items: withoutDefaults(schema.items) }),
  };
}
