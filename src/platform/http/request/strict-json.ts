import { isUtf8 } from 'node:buffer';

import { fieldLabel, MAX_PROBLEMS, type FieldProblem } from '../../errors/field-problem.js';
import { isWellFormedText } from '../../fields/kinds/text.js';
import { BIG_NUMBER, isOutOfRange } from './json-number.js';

const MAX_DEPTH = 32;
const MAX_KEYS = 1000;
/** Every integer of this many digits is below 2^53. */
const SAFE_DIGITS = 15;

const WHOLE = 'body';
const EMPTY = 'must not be empty';
const NOT_UTF8 = 'must be encoded in UTF-8';
const BYTE_ORDER_MARK = 'must not begin with a byte order mark';
const NOT_JSON = 'must be valid JSON';
const TOO_DEEP = 'must not be nested deeper than 32 levels';
const TOO_MANY_KEYS = 'must not have more than 1,000 keys in one object';
const REPEATED = 'must be given only once';
const REPEATED_INSIDE = 'must not have the same key twice in one object';
const BAD_TEXT = 'must not contain \\u0000 or unpaired surrogates';

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BYTE_ORDER_MARK_UNIT = 0xfeff;

/** The value of a document, if it is JSON. If there are problems, it is only used to find more of them. */
export interface ParsedJson {
  readonly value?: unknown;
  readonly problems: readonly FieldProblem[];
}

/**
 * Parses one JSON document (RFC 8259) and rejects input that parsers read differently or change
 * silently: repeated keys, numbers that lose digits, and strings that PostgreSQL cannot store.
 * Does not throw.
 * @param fieldDepth number of keys in the field names of problems, joined by dots. The maximum depth
 *   counts from the last of them.
 * @returns the value, and one problem for each field and message
 */
export function parseJson(bytes: Buffer, fieldDepth = 1): ParsedJson {
  if (bytes.length === 0) return refusal(EMPTY);
  if (!isUtf8(bytes)) return refusal(NOT_UTF8);
  const text = bytes.toString('utf8');
  if (text.charCodeAt(0) === BYTE_ORDER_MARK_UNIT) return refusal(BYTE_ORDER_MARK);

  const { problems, tooDeep } = new Scanner(text, fieldDepth).scan();
  if (tooDeep) return { problems };
  try {
    const value: unknown = JSON.parse(text);
    return { value, problems };
  } catch {
    return refusal(NOT_JSON);
  }
}

function refusal(message: string): ParsedJson {
  return { problems: [{ field: WHOLE, message }] };
}

/**
 * Finds the problems that JSON.parse does not report, in one pass and without recursion. It does not
 * check the grammar: if the input is not JSON, its problems are ignored.
 */
class Scanner {
  private readonly problems: FieldProblem[] = [];
  private lastMessage: string | undefined;
  private lastField: string | undefined;
  private readonly hasEscapes: boolean;
  private position = 0;
  private depth = 0;
  /** The keys of each open object, outermost first; undefined for arrays. */
  private readonly keysByDepth: (Set<string> | undefined)[] = [];
  /** The keys of the innermost object; undefined in an array. */
  private keys: Set<string> | undefined;
  private keyIsNext = false;
  /** The keys of the current field, outermost first. */
  private readonly path: (string | undefined)[] = [];
  private tooDeep = false;

  constructor(
    private readonly text: string,
    private readonly fieldDepth: number,
  ) {
    this.hasEscapes = text.includes('\\');
  }

  scan(): { problems: FieldProblem[]; tooDeep: boolean } {
    const { text } = this;
    while (this.position < text.length) {
      const unit = text.charCodeAt(this.position);
      if (unit === QUOTE) this.readString();
      else if (unit === MINUS || isDigit(unit)) this.readNumber();
      else {
        this.position++;
        if (unit === COMMA) this.keyIsNext = true;
        else if (unit === OPEN_BRACE) this.open(new Set());
        else if (unit === OPEN_BRACKET) this.open(undefined);
        else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) this.close();
      }
    }
    return { problems: this.problems, tooDeep: this.tooDeep };
  }

  private open(keys: Set<string> | undefined): void {
    this.depth++;
    this.keyIsNext = true;
    if (this.depth > MAX_DEPTH + this.fieldDepth - 1) {
      this.tooDeep = true;
      this.keys = undefined;
      this.report(TOO_DEEP);
    } else {
      this.keysByDepth[this.depth - 1] = keys;
      this.keys = keys;
    }
  }

  private close(): void {
    if (this.depth === 0) return;
    this.depth--;
    this.keys = this.depth === 0 ? undefined : this.keysByDepth[this.depth - 1];
    if (this.path.length > this.depth) this.path.length = this.depth;
  }

  private readString(): void {
    const start = this.position + 1;
    const end = endOfString(this.text, start);
    this.position = end + 1;
    if (this.keys && this.keyIsNext) {
      this.keyIsNext = false;
      this.addKey(this.keys, decodeString(this.text.slice(start, end)));
    } else if (this.hasEscapes) {
      this.checkText(decodeString(this.text.slice(start, end)));
    }
  }

  private addKey(keys: Set<string>, key: string): void {
    const isField = this.depth <= this.fieldDepth;
    if (isField) {
      this.path.length = this.depth - 1;
      this.path.push(key);
    }
    if (this.hasEscapes) this.checkText(key);
    if (keys.has(key)) this.report(isField ? REPEATED : REPEATED_INSIDE);
    else if (keys.size < MAX_KEYS) keys.add(key);
    else {
      if (isField) this.path.pop();
      this.report(TOO_MANY_KEYS);
    }
  }

  private readNumber(): void {
    const { text } = this;
    const start = this.position;
    let end = start;
    let hasExponent = false;
    for (let unit = text.charCodeAt(end); isNumberUnit(unit); unit = text.charCodeAt(++end)) {
      if (unit === LOWER_E || unit === UPPER_E) hasExponent = true;
    }
    this.position = end;
    if (!hasExponent && end - start <= SAFE_DIGITS) return;
    const number = text.slice(text.charCodeAt(start) === MINUS ? start + 1 : start, end);
    if (isOutOfRange(number)) this.report(BIG_NUMBER);
  }

  private checkText(text: string): void {
    if (!isWellFormedText(text)) this.report(BAD_TEXT);
  }

  private report(message: string): void {
    // Array items have no key.
    const keys = this.path.filter((key) => key !== undefined);
    const last = keys.pop();
    const field = last === undefined ? WHOLE : [...keys, fieldLabel(last, WHOLE)].join('.');
    // A malicious body can have the same problem thousands of times in one field.
    if (message === this.lastMessage && field === this.lastField) return;
    this.lastMessage = message;
    this.lastField = field;
    this.addProblem(field, message);
  }

  private addProblem(field: string, message: string): void {
    if (this.problems.length === MAX_PROBLEMS) return;
    const isKnown = this.problems.some((one) => one.field === field && one.message === message);
    if (!isKnown) this.problems.push({ field, message });
  }
}

/** Returns the index of the closing quote, or the length of the JSON if there is none. */
function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end);
    if (end === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
    end++;
  }
}

/** Decodes a string without its quotes. Returns invalid strings unchanged: JSON.parse rejects them. */
function decodeString(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}

function isNumberUnit(unit: number): boolean {
  return (
    isDigit(unit) ||
    unit === DOT ||
    unit === MINUS ||
    unit === PLUS ||
    unit === LOWER_E ||
    unit === UPPER_E
  );
}
