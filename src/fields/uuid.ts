/** How JSON Schema calls it. */
export const UUID_SCHEMA = { type: 'string', format: 'uuid' } as const;

/** A UUID as text, of any version, in any case. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Every UUID within a text. */
export const ANY_UUID = new RegExp(UUID.source.slice(1, -1), 'gi');

/** The first and the last UUID that begin so; undefined where none does. */
export function uuidRangeOf(beginning: string): { first: string; last: string } | undefined {
  const [first = '', last = ''] = ['0', 'f'].map((digit) => {
    const rest = '00000000-0000-0000-0000-000000000000'.slice(beginning.length);
    return beginning + rest.replaceAll('0', digit);
  });
  return beginning !== '' && UUID.test(first) ? { first, last } : undefined;
}
