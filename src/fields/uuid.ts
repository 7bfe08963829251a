/** How JSON Schema calls it. */
export const UUID_SCHEMA = { type: 'string', format: 'uuid' } as const;

/** A UUID as text, of any version, in any case. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
