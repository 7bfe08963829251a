import { fieldLabel, MAX_PROBLEMS, type FieldProblem } from '../../errors/field-problem.js';

const MAX_PARAMETERS = 1000;

const WHOLE = 'query';
const TOO_MANY = 'must not have more than 1,000 parameters';
const REPEATED = 'must be given only once';
const NOT_ENCODED = 'must be percent-encoded as UTF-8';
const HAS_NUL = 'must not contain \\u0000';

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
 */
export function parseQueryString(
  raw: string,
  mayRepeat: (name: string) => boolean = () => false,
): ParsedQueryString {
  const reader = new Reader(mayRepeat);
  let parameters = 0;
  let start = 0;
  while (start < raw.length) {
    const ampersand = raw.indexOf('&', start);
    const end = ampersand === -1 ? raw.length : ampersand;
    if (end > start && ++parameters > MAX_PARAMETERS) {
      reader.report(WHOLE, TOO_MANY);
      break;
    }
    if (end > start) reader.read(raw.slice(start, end));
    start = end + 1;
  }
  return { values: reader.values, problems: reader.problems };
}

class Reader {
  readonly values = Object.create(null) as ParsedQueryString['values'];
  readonly problems: FieldProblem[] = [];
  private readonly seen = new Set<string>();
  private readonly repeated = new Set<string>();

  constructor(private readonly mayRepeat: (name: string) => boolean) {}

  read(parameter: string): void {
    const equals = parameter.indexOf('=');
    const rawName = equals === -1 ? parameter : parameter.slice(0, equals);
    const name = decode(rawName);
    if (name === undefined) this.report(rawName, NOT_ENCODED);
    else if (name.includes('\0')) this.report(rawName, HAS_NUL);
    else if (this.seen.has(name) && !this.mayRepeat(name)) this.reportRepeated(name);
    else {
      this.seen.add(name);
      this.readValue(name, equals === -1 ? '' : parameter.slice(equals + 1));
    }
  }

  report(name: string, message: string): void {
    if (this.problems.length === MAX_PROBLEMS) return;
    this.problems.push({ field: fieldLabel(name, WHOLE), message });
  }

  private readValue(name: string, rawValue: string): void {
    const value = decode(rawValue);
    if (value === undefined) this.report(name, NOT_ENCODED);
    else if (value.includes('\0')) this.report(name, HAS_NUL);
    else {
      const earlier = this.values[name];
      this.values[name] = earlier === undefined ? value : [earlier, value].flat();
    }
  }

  private reportRepeated(name: string): void {
    if (this.repeated.has(name)) return;
    this.repeated.add(name);
    this.report(name, REPEATED);
  }
}

/** @returns undefined if the string is not valid percent-encoded UTF-8 */
function decode(raw: string): string | undefined {
  // Node decodes unencoded bytes beyond ASCII as Latin-1, which would change UTF-8 text.
  if (NOT_ASCII.test(raw)) return undefined;
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
