import { isUtf8 } from 'node:buffer';

import { fieldLabel, MAX_PROBLEMS, type FieldProblem } from '../../errors/field-problem.js';
import { isWellFormedText } from '../kinds/text.js';
import { BIG_NUMBER, isOutOfRange } from './json-number.js';

const MAX_DEPTH = 32;
const MAX_KEYS = 1000;
/** The length of a part of a file, as that of a body by default. */
const MAX_PART_LENGTH = 262_144;
/** Every integer of this many digits is below 2^53. */
const SAFE_DIGITS = 15;

const WHOLE = 'body';
/** The most keys and indexes in the path of a problem. A filter that can be valid has fewer. */
const MAX_PATH = 16;
const EMPTY = 'must not be empty';
const NOT_UTF8 = 'must be encoded in UTF-8';
const BYTE_ORDER_MARK = 'must not begin with a byte order mark';
const NOT_JSON = 'must be valid JSON';
const TOO_DEEP = 'must not be nested deeper than 32 levels';
const TOO_MANY_KEYS = 'must not have more than 1,000 keys in one object';
const REPEATED = 'must be given only once';
const REPEATED_INSIDE = 'must not have the same key twice in one object';
const PART_TOO_LONG = 'must have at most 262,144 characters as JSON';
const BAD_TEXT = 'must not contain \\u0000 or unpaired surrogates';

const BYTE_ORDER_MARK_UNIT = 0xfeff;

/** Codes of characters: comparing them is much faster than comparing texts. */
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OTHERS_OF_NUMBERS: ReadonlySet<number> = new Set([...'.eE+-'].map((c) => c.charCodeAt(0)));

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
  return parseText(text, fieldDepth) ?? refusal(NOT_JSON);
}

/**
 * Like `parseJson`, for a part of a file.
 * @param fieldDepth 0 if no key is the name of a field. All problems are then about `body`.
 * @returns undefined if the text is not JSON
 */
export function parseJsonText(text: string, fieldDepth = 1): ParsedJson | undefined {
  return text.length > MAX_PART_LENGTH ? refusal(PART_TOO_LONG) : parseText(text, fieldDepth);
}

/**
 * Like `parseJson`, for the value of a parameter, which is short. Its depth is not limited. Problems have the path of their
 * key, such as `filter.or[1].zip`.
 * @param name that of the parameter
 */
export function parseJsonParameter(text: string, name: string): ParsedJson {
  const scanner = new Scanner(text, { fieldDepth: MAX_PATH, maxDepth: Infinity, root: name });
  return parseScanned(text, scanner) ?? { problems: [{ field: name, message: NOT_JSON }] };
}

function parseText(text: string, fieldDepth: number): ParsedJson | undefined {
  return parseScanned(
    text,
    new Scanner(text, { fieldDepth, maxDepth: MAX_DEPTH + fieldDepth - 1 }),
  );
}

/** @returns undefined if the text is not JSON */
function parseScanned(text: string, scanner: Scanner): ParsedJson | undefined {
  const { problems, tooDeep } = scanner.scan();
  if (tooDeep) return { problems };
  try {
    const value: unknown = JSON.parse(text);
    return { value, problems };
  } catch {
    return undefined;
  }
}

function refusal(message: string): ParsedJson {
  return { problems: [{ field: WHOLE, message }] };
}

/** An object or an array that is not closed yet. */
interface Level {
  readonly isObject: boolean;
  /** The keys of an object, from its first one on. */
  keys: Set<string> | undefined;
  /** The key of the current field, if it is part of the names of fields. */
  field: string | undefined;
  /** What has been reported of this field. Input can have the same problem thousands of times. */
  reported: Set<string> | undefined;
  /** The index of the current item of an array. */
  index: number;
}

function newLevel(isObject: boolean): Level {
  return { isObject, keys: undefined, field: undefined, reported: undefined, index: 0 };
}

interface ScanOptions {
  /** The number of levels whose keys are part of the names of fields. */
  readonly fieldDepth: number;
  readonly maxDepth: number;
  /** What the paths of problems begin with, which then have the indexes of items. */
  readonly root?: string;
}

/**
 * Finds the problems that JSON.parse does not report, in one pass and without recursion. It does not
 * check the grammar: if the input is not JSON, its problems are ignored.
 */
class Scanner {
  /** Each problem once, by field and message. */
  private readonly problems = new Map<string, FieldProblem>();
  /** Outermost first. */
  private readonly levels: Level[] = [];
  private readonly whole = newLevel(false);
  /** Number of those that are nested too deep. */
  private levelsTooDeep = 0;
  private keyIsNext = false;
  private tooDeep = false;

  constructor(
    private readonly text: string,
    private readonly options: ScanOptions,
  ) {}

  scan(): { problems: FieldProblem[]; tooDeep: boolean } {
    const { text } = this;
    for (let at = 0; at < text.length;) at = this.readToken(at);
    return { problems: [...this.problems.values()], tooDeep: this.tooDeep };
  }

  /** @returns the index after the token */
  private readToken(at: number): number {
    const code = this.text.charCodeAt(at);
    switch (code) {
      case QUOTE:
        return this.readString(at);
      case COMMA:
        this.keyIsNext = true;
        if (this.options.root !== undefined) this.countItem();
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.open(code === OPEN_BRACE);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.levelsTooDeep > 0) this.levelsTooDeep--;
        else this.levels.pop();
        break;
      default:
        if (code === MINUS || isDigit(code)) return this.readNumber(at);
    }
    return at + 1;
  }

  private open(isObject: boolean): void {
    this.keyIsNext = true;
    if (this.levels.length < this.options.maxDepth) {
      this.levels.push(newLevel(isObject));
    } else {
      if (this.levelsTooDeep === 0) this.report(TOO_DEEP);
      this.levelsTooDeep++;
      this.tooDeep = true;
    }
  }

  private countItem(): void {
    const level = this.levels.at(-1);
    if (level) level.index++;
  }

  private readString(start: number): number {
    const end = endOfString(this.text, start);
    const level = this.levelsTooDeep > 0 ? undefined : this.levels.at(-1);
    const object = this.keyIsNext && level?.isObject ? level : undefined;
    const token = this.text.slice(start, end);
    const hasEscapes = token.includes('\\');
    // Other escapes are well-formed.
    if (!object && !(hasEscapes && token.includes('\\u'))) return end;
    const text = hasEscapes ? decodeString(token) : token.slice(1, -1);
    if (object) this.readKey(object, text);
    else if (!isWellFormedText(text)) this.report(BAD_TEXT);
    return end;
  }

  private readKey(object: Level, key: string): void {
    this.keyIsNext = false;
    const isField = this.levels.length <= this.options.fieldDepth;
    if (isField && object.field !== key) {
      object.field = key;
      object.reported = undefined;
    }
    if (!isWellFormedText(key)) this.report(BAD_TEXT);
    const keys = (object.keys ??= new Set());
    if (keys.has(key)) this.report(isField ? REPEATED : REPEATED_INSIDE);
    else if (keys.size < MAX_KEYS) keys.add(key);
    else {
      if (isField) object.field = undefined;
      this.report(TOO_MANY_KEYS);
    }
  }

  private readNumber(start: number): number {
    const { text } = this;
    const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
    let end = first + 1;
    while (isOfNumber(text.charCodeAt(end))) end++;
    const number = text.slice(first, end);
    const mayBeLarge = number.length > SAFE_DIGITS || /e/i.test(number);
    if (mayBeLarge && isOutOfRange(number)) this.report(BIG_NUMBER);
    return end;
  }

  private report(message: string): void {
    if (this.problems.size === MAX_PROBLEMS) return;
    const levels = this.levels.slice(0, this.options.fieldDepth);
    const owner = levels.at(-1) ?? this.whole;
    if (owner.reported?.has(message)) return;
    (owner.reported ??= new Set()).add(message);
    const { root } = this.options;
    const field = root === undefined ? nameIn(levels) : pathIn(levels, root);
    this.problems.set(`${field} ${message}`, { field, message });
  }
}

/** The keys of the levels, joined by dots. Array items have no key. */
function nameIn(levels: readonly Level[]): string {
  const keys: string[] = [];
  for (const { field } of levels) if (field !== undefined) keys.push(field);
  const last = keys.pop();
  return last === undefined ? WHOLE : [...keys, fieldLabel(last, WHOLE)].join('.');
}

/** The keys and the indexes of the levels, such as `filter.or[1].zip`. */
function pathIn(levels: readonly Level[], root: string): string {
  const parts = levels.map(({ isObject, field, index }) => {
    if (!isObject) return `[${index}]`;
    return field === undefined ? '' : `.${fieldLabel(field, '?')}`;
  });
  return root + parts.join('');
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Whether a number can go on with a character. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || OTHERS_OF_NUMBERS.has(code);
}

/** Returns the index after the closing quote, or the length of the JSON if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Decodes a string in quotes. Returns invalid strings unchanged: JSON.parse rejects them. */
function decodeString(token: string): string {
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}
