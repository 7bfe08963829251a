import { fieldLabel, MAX_PROBLEMS, type FieldProblem } from '../../errors/field-problem.js';

const MAX_PARAMETERS = 1000;

const WHOLE = 'query';
const TOO_MANY = 'must not have more than 1,000 parameters';
const REPEATED = 'must be given only once';
const NOT_ENCODED = 'must be percent-encoded as UTF-8';
const HAS_NUL = 'must not contain \\u0000';
const tooLong = (bytes: number) => `must be at most ${bytes} bytes as it is sent`;

const NOT_ASCII = /[^\0-\x7f]/;

/** The valid parameters, and the problems of the others. */
export interface ParsedQueryString {
  /** Has no prototype, so that `__proto__` is a normal name. */
  values: Record<string, string | string[]>;
  problems: FieldProblem[];
}

/**
 * Parses `application/x-www-form-urlencoded` strictly. Brackets and dots in names have no meaning.
 * @param raw the part of a URL after the question mark
 * @param mayRepeat whether a parameter that is given several times is an array; otherwise it is a problem
 * @param maxBytesOf the most bytes of the value of a parameter before it is decoded
 */
export function parseQueryString(
  raw: string,
  mayRepeat: (name: string) => boolean = () => false,
  maxBytesOf: (name: string) => number = () => Infinity,
): ParsedQueryString {
  const values = Object.create(null) as ParsedQueryString['values'];
  const problems: FieldProblem[] = [];
  const report = (name: string, message: string) => {
    problems.push({ field: fieldLabel(name, WHOLE), message });
  };
  /** Decodes a part of the parameter with a name, or reports its problem. */
  const decode = (encoded: string, name: string): string | undefined => {
    const text = decodeText(encoded);
    if (text !== undefined && !text.includes('\0')) return text;
    report(name, text === undefined ? NOT_ENCODED : HAS_NUL);
    return undefined;
  };
  /** How often each name was given. */
  const counts = new Map<string, number>();
  const parameters = raw.split('&').filter((parameter) => parameter !== '');
  for (const parameter of parameters.slice(0, MAX_PARAMETERS)) {
    if (problems.length === MAX_PROBLEMS) break;
    const [rawName = ''] = parameter.split('=', 1);
    const name = decode(rawName, rawName);
    if (name === undefined) continue;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count > 1 && !mayRepeat(name)) {
      if (count === 2) report(name, REPEATED);
      continue;
    }
    const encoded = parameter.slice(rawName.length + 1);
    const maxBytes = maxBytesOf(name);
    if (encoded.length > maxBytes) {
      report(name, tooLong(maxBytes));
      continue;
    }
    const value = decode(encoded, name);
    const earlier = values[name];
    if (value === undefined) continue;
    if (Array.isArray(earlier)) earlier.push(value);
    else values[name] = earlier === undefined ? value : [earlier, value];
  }
  if (parameters.length > MAX_PARAMETERS) report(WHOLE, TOO_MANY);
  return { values, problems };
}

/** @returns undefined for text that is not percent-encoded UTF-8 */
function decodeText(encoded: string): string | undefined {
  // Node decodes unencoded bytes beyond ASCII as Latin-1, which would change UTF-8 text.
  if (NOT_ASCII.test(encoded)) return undefined;
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
