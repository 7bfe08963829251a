import { isDeepStrictEqual } from 'node:util';
import type { Type } from '@nestjs/common';
import { getMetadataStorage, validateSync } from 'class-validator';
import { fieldsOf } from '../platform/fields/field.js';
import type { FieldProblem } from '../platform/errors/field-problem.js';
import { validatorOf, withParts } from '../platform/fields/validation/validator.js';

/** Numbers from 0 up to 1, the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const BOUNDS = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 254, 500, 5000];
const LETTERS = ['a', 'é', '😀', '1', ' ', '\ud83d', '\udc00', '\0'];
const TEXTS = [
  ...['', ' ', 'Ada', '$&', "$`$'$1$$", '$property $value $constraint1 $target', '\0', '\ud83d'],
  ...['ada@example.com', 'a@b', `${'a'.repeat(64)}@example.com`, '+1 (2) 3', '12', '٣', '-0', '42'],
  ...['01a1fbdf-c82e-7372-858e-5501a64880f1', '01A1FBDF-C82E-7372-858E-5501A64880F1', '2026-01-31'],
  ...['toString', '__proto__', 'constructor', 'a', 'b', 'x', 'first', 'second'],
];
const NUMBERS = [0, -0, 1, -1, 3, 9, 10, 100, 101, 1.5, NaN, Infinity, 2 ** 53, 1e300, 5e-324];
const DATES = [0, 1, Date.UTC(2026, 0, 31), NaN, 8.64e15];
const JSON_OBJECTS = ['{}', '{"__proto__":{"name":1}}', '{"constructor":1}', '{"toString":null}'];
const ODD_VALUES = [
  Symbol('odd'),
  1n,
  Object.create(null) as object,
  () => 1,
  /x/,
  new Map([[1, 'a']]),
];

type Make = () => unknown;

/** Values of every type, including values that a field of this name is likely to accept. */
class Values {
  private readonly next: () => number;

  constructor(seed: number) {
    this.next = seeded(seed);
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  any(likely: readonly unknown[] = [], depth = 0): unknown {
    const list = () => Array.from({ length: this.below(4) }, () => this.any([], depth + 1));
    const makers: Make[] = [
      // About as frequent as all others together.
      ...(likely.length > 0 ? Array<Make>(6).fill(() => this.oneOf(likely)) : []),
      () => this.oneOf([null, undefined]),
      () => this.oneOf(TEXTS),
      () => this.text(),
      () => this.oneOf(NUMBERS),
      () => this.below(200) - 50,
      () => this.oneOf([true, false]),
      () => new Date(this.oneOf(DATES)),
      () => JSON.parse(this.oneOf(JSON_OBJECTS)) as unknown,
      () => this.oneOf(ODD_VALUES),
      ...(depth < 2
        ? [list, () => new Set(list()), () => ({ name: this.any([], depth + 1) })]
        : []),
    ];
    return this.oneOf(makers)();
  }

  /** A string about as long as some limit allows. */
  private text(): string {
    const length = Math.max(0, this.oneOf(BOUNDS) + this.below(3) - 1);
    return 'b'.repeat(Math.max(0, length - 1)) + this.oneOf(LETTERS).repeat(Math.min(1, length));
  }

  /** An instance of the class with some of these properties. */
  instance(dto: Type<object>, names: readonly string[]): object {
    const value = new dto() as Record<string, unknown>;
    const isSparse = this.below(3) > 0;
    for (const name of names) {
      if (isSparse && this.below(3) > 0) continue;
      const given = this.any(likelyValues(dto, name));
      try {
        value[name] = given;
      } catch {
        // The class has a getter of this name.
      }
    }
    return value;
  }
}

function likelyValues(dto: Type<object>, name: string): readonly unknown[] {
  const schema = fieldsOf(dto).find((field) => field.name === name)?.schema;
  if (!schema) return [];
  const { examples = [], format, enum: words = [], minimum = 0, maximum = 0 } = schema;
  const dates = format === 'date-time' ? DATES.map((time) => new Date(time)) : [];
  const numbers = [minimum - 1, minimum, maximum, maximum + 1];
  return [...examples, ...words, ...dates, ...(schema.type === 'integer' ? numbers : [])];
}

function propertiesOf(dto: Type<object>): string[] {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return [...new Set(metadata.map(({ propertyName }) => propertyName))];
}

/** The errors of class-validator, with the problems inside nested values. */
function expectedProblems(dto: Type<object>, value: object): FieldProblem[] {
  const errors = validateSync(value, { stopAtFirstError: true, forbidUnknownValues: false });
  const problems = errors.map(({ property, constraints = {} }) => ({
    field: property,
    message: Object.values(constraints).join(' and '),
  }));
  const fields = new Map(fieldsOf(dto).map((field) => [field.name, field]));
  return withParts(problems, value, fields);
}

function outcome(validate: () => FieldProblem[]): FieldProblem[] | { thrown: string } {
  try {
    return validate().sort((a, b) => (a.field < b.field ? -1 : 1));
  } catch (error) {
    return { thrown: (error as Error).name };
  }
}

/**
 * Validates random instances by Latitude's validator and by class-validator, and fails at the first difference.
 * @returns for how many values each property was refused
 */
export function compare(dto: Type<object>, count: number, seed = 1): Map<string, number> {
  // Each validates values of its own, because a rule may change the object.
  const [ours, theirs] = [new Values(seed), new Values(seed)];
  const validate = validatorOf(dto);
  const names = propertiesOf(dto);
  const refused = new Map(names.map((name) => [name, 0]));
  for (let made = 0; made < count; made += 1) {
    const value = ours.instance(dto, names);
    const problems = outcome(() => validate(value));
    const other = theirs.instance(dto, names);
    const expected = outcome(() => expectedProblems(dto, other));
    // `expect` is too slow to be asked each time.
    if (!isDeepStrictEqual(problems, expected)) expect({ value, problems }).toBe(expected);
    if (!Array.isArray(problems)) continue;
    for (const name of new Set(problems.map(({ field }) => field.split('.', 1)[0]!))) {
      refused.set(name, (refused.get(name) ?? 0) + 1);
    }
  }
  return refused;
}

/** Whether Latitude's validator hands this class to class-validator, which then looks up the metadata of the class. */
export function isLeftToClassValidator(dto: Type<object>, value: object = new dto()): boolean {
  const validate = validatorOf(dto);
  const storage = getMetadataStorage();
  const lookUp = storage.getTargetValidationMetadatas.bind(storage);
  let isLookedUp = false;
  storage.getTargetValidationMetadatas = (...args) => {
    isLookedUp = true;
    return lookUp(...args);
  };
  try {
    outcome(() => validate(value));
    return isLookedUp;
  } finally {
    // The method of the class is in force again.
    Reflect.deleteProperty(storage, 'getTargetValidationMetadatas');
  }
}
