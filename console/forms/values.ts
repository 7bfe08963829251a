const CUSTOM = 'custom_fields';
const PREFIX = `${CUSTOM}.`;

type Values = ReadonlyMap<string, unknown>;

/** The value of a field of a record. `custom_fields.a.b` is the key `a.b`. */
export function valueOf(record: object | undefined, name: string): unknown {
  const isCustom = name.startsWith(PREFIX);
  const holder = isCustom ? ownValue(record, CUSTOM) : record;
  return ownValue(holder, isCustom ? name.slice(PREFIX.length) : name);
}

/** Keys of records are any text, also `__proto__`. */
function ownValue(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name))
    return undefined;
  return (holder as Record<string, unknown>)[name];
}

/** Whether two values are the same JSON. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

/** The body of a request: the changes, with all custom fields if one of them changes, because they are replaced together. */
export function bodyOf(changes: Values, base: object | undefined): Record<string, unknown> {
  const plain = [...changes].filter(([name]) => !name.startsWith(PREFIX));
  const custom = [...changes]
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, value]) => [name.slice(PREFIX.length), value] as const);
  if (custom.length === 0) return Object.fromEntries(plain);
  const stored = ownValue(base, CUSTOM) ?? {};
  const all = new Map<string, unknown>([...Object.entries(stored), ...custom]);
  const kept = [...all].filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries([...plain, [CUSTOM, Object.fromEntries(kept)]]);
}
