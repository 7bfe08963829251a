/** The JSON Schema of a UUID. */
export const UUID_SCHEMA = { type: 'string', format: 'uuid' } as const;

/** A UUID as a string, of any version, in any case. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Matches every UUID in a string. */
export const ANY_UUID = new RegExp(UUID.source.slice(1, -1), 'gi');

/** The distinct UUIDs in a string, in lower case. */
export function uuidsIn(text: string): string[] {
  return [...new Set((text.match(ANY_UUID) ?? []).map((id) => id.toLowerCase()))];
}

/** The first and the last UUID with a prefix; undefined if it is empty or no UUID begins with it. */
export function uuidRangeOf(prefix: string): { first: string; last: string } | undefined {
  const [first = '', last = ''] = ['0', 'f'].map((digit) => {
    const rest = '00000000-0000-0000-0000-000000000000'.slice(prefix.length);
    return prefix + rest.replaceAll('0', digit);
  });
  return prefix !== '' && UUID.test(first) ? { first, last } : undefined;
}
