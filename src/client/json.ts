/** @throws TypeError that names the argument if it has no JSON, such as a BigInt, NaN or an object that contains itself */
export function jsonOf(argument: string, value: object): string {
  let cause: unknown;
  try {
    const json = JSON.stringify(value, refuseNewNull) as string | undefined;
    if (json !== undefined) return json;
  } catch (error) {
    cause = error;
  }
  throw new TypeError(`${argument} must be an object of JSON values`, { cause });
}

/**
 * Refuses what `JSON.stringify` writes as null, which has a meaning of its own: NaN, infinite numbers, invalid dates, and
 * undefined in an array.
 */
function refuseNewNull(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const isMissing = value === undefined && Array.isArray(this);
  const isNull = typeof value === 'number' ? !Number.isFinite(value) : value === null;
  if (isMissing || (isNull && this[name] !== null)) throw new TypeError(`${name} would be null`);
  return value;
}
