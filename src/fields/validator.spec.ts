import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Type } from '@nestjs/common';
import {
  Allow,
  ArrayMaxSize,
  Equals,
  getMetadataStorage,
  IsArray,
  IsBoolean,
  IsDefined,
  IsEmail,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  registerDecorator,
  useContainer,
  Validate,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  ValidatePromise,
  type ValidationArguments,
  type ValidationOptions,
  ValidatorConstraint,
  validateSync,
} from 'class-validator';
import { ListQuery } from '../listing/list-query.js';
import { fieldsOf } from './field.js';
import { compileValidator } from './validator.js';

/** Numbers from 0 up to 1, the same in every run. */
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

/** Values of every sort, with those among them that a field of this name is likely to take. */
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

  /** A text about as long as some limit allows. */
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
    if (this.below(20) === 0) Object.assign(value, { ...JSON.parse(this.oneOf(JSON_OBJECTS)) });
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

/** What class-validator says, as `readInput` used to ask it. */
function expectedProblems(value: object) {
  return validateSync(value, { stopAtFirstError: true, forbidUnknownValues: false }).map(
    ({ property, constraints = {} }) => ({
      field: property,
      message: Object.values(constraints).join(' and '),
    }),
  );
}

function outcome<T>(validate: () => T): T | { thrown: string } {
  try {
    return validate();
  } catch (error) {
    return { thrown: (error as Error).name };
  }
}

/** @returns for how many values each property was refused */
function compare(dto: Type<object>, count: number, seed = 1): Map<string, number> {
  // Each has values of its own: a rule may change the object that it looks at.
  const [ours, theirs] = [new Values(seed), new Values(seed)];
  const validate = compileValidator(dto);
  const names = propertiesOf(dto);
  const refused = new Map(names.map((name) => [name, 0]));
  for (let made = 0; made < count; made += 1) {
    const value = ours.instance(dto, names);
    const problems = outcome(() => validate(value));
    const other = theirs.instance(dto, names);
    const expected = outcome(() => expectedProblems(other));
    // `expect` is too slow to be asked each time.
    if (!isDeepStrictEqual(problems, expected)) expect({ value, problems }).toBe(expected);
    if (!Array.isArray(problems)) continue;
    for (const { field } of problems) refused.set(field, refused.get(field)! + 1);
  }
  return refused;
}

/** Whether class-validator itself works out the rules anew when a value is validated. */
function isLeftToClassValidator(dto: Type<object>, value: object = new dto()): boolean {
  const validate = compileValidator(dto);
  const lookUp = jest.spyOn(getMetadataStorage(), 'getTargetValidationMetadatas');
  try {
    outcome(() => validate(value));
    return lookUp.mock.calls.length > 0;
  } finally {
    lookUp.mockRestore();
  }
}

const SOURCES = path.join(__dirname, '..');
const DTO_FILES = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.dto.ts'))
  .sort();

/** The classes that a file exports: those of features are found, as this room imports none. */
async function dtosIn(file: string): Promise<Type<object>[]> {
  const exported = (await import(path.join(SOURCES, file))) as Record<string, unknown>;
  return Object.values(exported).filter((one): one is Type<object> => typeof one === 'function');
}

describe('compiled validation of the DTOs of the product', () => {
  it('is about the DTOs of every feature', () => {
    for (const feature of ['leads/lead', 'appointments/appointment', 'tasks/task', 'auth/me']) {
      expect(DTO_FILES).toContain(path.normalize(`${feature}.dto.ts`));
    }
  });

  it.each(DTO_FILES)('says what class-validator says: %s', async (file) => {
    const dtos = await dtosIn(file);
    expect(dtos).not.toEqual([]);
    for (const dto of dtos) {
      const refused = compare(dto, 1000);
      for (const [field, times] of refused) {
        expect([dto, field, times]).not.toEqual([dto, field, 0]);
        // What is only answered is refused whatever it is.
        if (dto.name !== 'MeDto') expect([dto, field, times]).not.toEqual([dto, field, 1000]);
      }
      expect([dto, isLeftToClassValidator(dto)]).toEqual([dto, false]);
    }
  });

  it('says what class-validator says: the parameters of every list', () => {
    compare(ListQuery, 3000);
    expect(isLeftToClassValidator(ListQuery)).toBe(false);
  });
});

class UsualDto {
  @IsString() @Length(2, 10) name: unknown;
  @IsOptional() @IsEmail() @MaxLength(20) email: unknown;
  @IsIn(['a', 'b', 'x']) @IsOptional() word: unknown;
  @Min(1) @Max(100) @IsInt() count: unknown;
  @MaxLength(3) @IsDefined() @IsNotEmpty() late: unknown;
  @Matches(/^[a-z]+$/i) @IsOptional() letters: unknown;
  @IsArray() @ArrayMaxSize(2) list: unknown;
  @IsBoolean({ context: { code: 7 } }) flag: unknown;
  @Allow() allowed: unknown;
}

class ConditionalDto {
  @ValidateIf((_, value) => value !== undefined) @IsString() given: unknown;
  // Asked after the one below, also where that one says no: it throws for null and undefined.
  @ValidateIf((_, value) => (value as { length: number }).length > 0)
  @ValidateIf(({ kind }: ConditionalDto) => kind === 'a')
  @IsEmail()
  both: unknown;
  @ValidateIf(() => 0 as unknown as boolean) @IsDefined() never: unknown;
  @ValidateIf(() => Promise.resolve(false) as unknown as boolean) @IsInt() promised: unknown;
  @IsIn(['a', 'b']) kind: unknown;
}

const LIST_OF_ODD = ['$value', Symbol('s'), [1, [2, 3]], null, undefined, '$&', '$property', {}];

class OddConstraintsRule {
  validate() {
    return false;
  }
  defaultMessage() {
    return '$constraint1 $constraint2 $constraint3 $constraint4 $constraint5 $constraint6 $constraint10';
  }
}
ValidatorConstraint({ name: 'odd' })(OddConstraintsRule);

const saying = (message: unknown) => ({ message }) as ValidationOptions;

class MessagesDto {
  @Length(2, 5, saying('$property of $target: $value not $constraint1..$constraint2'))
  text: unknown;
  @Equals('$& $1', saying('[$constraint1] [$value] $$')) equal: unknown;
  @Validate(OddConstraintsRule, LIST_OF_ODD) constraints: unknown;
  @Validate(OddConstraintsRule, saying('')) empty: unknown;
  @Validate(OddConstraintsRule, saying(5)) number: unknown;
  @IsInt({ message: (args: ValidationArguments) => JSON.stringify(Object.keys(args)) })
  keys: unknown;
  @Min(3, { message: ({ targetName, property }) => `${targetName}.${property} < $constraint1` })
  min: unknown;
  @IsInt(saying(() => undefined)) unsaid: unknown;
  @IsInt(saying(() => null)) nothing: unknown;
  @IsInt(saying(() => 0)) zero: unknown;
  @IsInt(saying(() => '')) silent: unknown;
}

class ThrowingDto {
  @IsInt(saying(() => 5)) number: unknown;
}

class Silent {
  validate(value: unknown) {
    return value === 'a';
  }
}
ValidatorConstraint()(Silent);

class Unregistered {
  validate() {
    return false;
  }
}

/** Left out for what it is declared as, whatever it answers. */
class LateRule {
  validate() {
    return false;
  }
}
ValidatorConstraint({ async: true })(LateRule);

class Twice {
  validate(value: unknown) {
    return typeof value === 'string';
  }
  defaultMessage() {
    return ' twice';
  }
}
ValidatorConstraint({ name: 'one' })(Twice);
ValidatorConstraint({ name: 'two' })(Twice);

const answering = (answer: (value: unknown) => unknown) =>
  ValidateBy({ name: 'answers', validator: { validate: answer as () => boolean } });
const soon = {
  then: (settle: (isValid: boolean) => void) => {
    settle(false);
  },
};

class CustomDto {
  @Validate(Silent) silent: unknown;
  @Validate(Unregistered) unregistered: unknown;
  @Validate(LateRule) @IsString() late: unknown;
  @Validate(Twice) twice: unknown;
  @answering(() => Promise.resolve(false)) @IsInt() promise: unknown;
  @IsInt() @answering(() => Promise.resolve(false)) promiseLast: unknown;
  @answering(() => soon) thenable: unknown;
  @answering((value) => value) truthy: unknown;
  @answering(() => undefined) nothing: unknown;
}

class ChangingDto {
  @answering((value) => value !== 'a')
  @ValidateBy({
    name: 'changes',
    validator: {
      validate: (_, args) => {
        Object.assign(args!.object, { second: 'changed' });
        Object.assign(args!, { value: 'changed', property: 'changed' });
        return false;
      },
      defaultMessage: (args) => JSON.stringify([args?.property, typeof args?.value]),
    },
  })
  first: unknown;
  @IsInt({ message: '$value' }) second: unknown;
}

class Base {
  @IsString() name: unknown;
  @IsOptional() @IsInt() count: unknown;
  @ValidateIf(() => false) @IsInt() skipped: unknown;
  @IsDefined() defined: unknown;
}
class Middle extends Base {
  @IsInt() override name: unknown;
  @IsEmail() email: unknown;
}
class InheritedDto extends Middle {
  @IsDefined() override count: unknown;
  @IsOptional() override skipped: unknown;
  @MaxLength(3) override email: unknown;
}
class SilentHeirDto extends InheritedDto {}

class PropertiesDto {
  @IsString() b: unknown;
  @IsString() 10: unknown;
  @IsString() 2: unknown;
  @IsString() a: unknown;
  @IsInt() get computed(): unknown {
    return this.a;
  }
  @IsOptional() @IsInt() @Max(1) get reads(): unknown {
    this.times += 1;
    return this.times;
  }
  private times = 0;
}

class BreakingDto {
  @IsInt() get broken(): unknown {
    throw new Error('no');
  }
}

class EachDto {
  @IsArray() @IsString({ each: true }) @Length(1, 3, { each: true }) words: unknown;
  @IsOptional() @IsInt({ each: true, message: 'each $value of $property' }) numbers: unknown;
}

class GroupsDto {
  @IsString({ groups: ['a'] }) first: unknown;
  @IsInt({ groups: ['b'], always: true }) second: unknown;
  @IsInt({ always: false }) third: unknown;
  @ValidateIf((_, value) => value !== null, { groups: ['c'] }) @Min(3) fourth: unknown;
}

class Inner {
  @Length(1, 3) name: unknown;
}
class NestedDto {
  @ValidateNested() inner: unknown = new Inner();
  @ValidateNested({ each: true }) @IsArray() inners: unknown = [new Inner(), 1];
  @IsOptional() @ValidateNested({ message: 'odd $property' }) perhaps: unknown;
}

class OptionDto {
  @IsInt({ validateIf: (_, value) => value !== 'a' }) @IsString() first: unknown;
  @Min(3, { validateIf: (_, value) => (value as object) instanceof Date }) second: unknown;
}

class PromisedDto {
  @ValidatePromise() @IsString() name: unknown = Promise.resolve(1);
  @IsInt() count: unknown;
}

const named = (name: string) => (target: object, propertyName: string) => {
  registerDecorator({
    name,
    target: target.constructor,
    propertyName,
    validator: { validate: () => false, defaultMessage: () => 'no' },
  });
};

class NamesDto {
  @named('__proto__') lost: unknown;
  @IsInt() count: unknown;
}
class SymbolNameDto {
  @named(Symbol('name') as unknown as string) @IsInt() count: unknown;
}
class TypeNameDto {
  @named('nestedValidation') @IsInt() count: unknown;
}

class UsualNamesDto {
  @named('constructor') first: unknown;
  @named('1') @IsInt() second: unknown;
  @named('') third: unknown;
  @named('whitelistValidation') fourth: unknown;
  @IsInt() @named('isDefined') fifth: unknown;
}

describe('compiled validation of rules that a team may add', () => {
  it.each<Type<object>>([
    UsualDto,
    ConditionalDto,
    MessagesDto,
    ThrowingDto,
    CustomDto,
    ChangingDto,
    Base,
    Middle,
    InheritedDto,
    SilentHeirDto,
    PropertiesDto,
    BreakingDto,
    GroupsDto,
    UsualNamesDto,
  ])('says what class-validator says: %p', (dto) => {
    compare(dto, 2000);
    expect(isLeftToClassValidator(dto)).toBe(false);
  });

  it('says nothing of a class without rules', () => {
    class Plain {}
    expect(compileValidator(Plain)(Object.assign(new Plain(), { name: 1 }))).toEqual([]);
  });

  it.each<Type<object>>([
    EachDto,
    NestedDto,
    OptionDto,
    PromisedDto,
    NamesDto,
    SymbolNameDto,
    TypeNameDto,
  ])('leaves rarer rules to class-validator: %p', (dto) => {
    compare(dto, 1000);
    expect(isLeftToClassValidator(dto)).toBe(true);
  });

  it.each(['toString', '__proto__', 'constructor'])('cannot be: a property named %s', (name) => {
    class Odd {}
    IsString()(Odd.prototype, name);
    expect(() => compileValidator(Odd)).toThrow(TypeError);
    expect(() => validateSync(new Odd())).toThrow(TypeError);
  });

  it.each([
    ['a plain object', {}],
    ['of another class', new Inner()],
    ['that names another class', Object.assign(new UsualDto(), { constructor: Inner })],
    ['without a prototype', Object.create(null) as object],
  ])('leaves a value to class-validator that is not of the class: %s', (_, value) => {
    const problems = outcome(() => compileValidator(UsualDto)(value));
    expect(problems).toEqual(outcome(() => expectedProblems(value)));
    expect(isLeftToClassValidator(UsualDto, value)).toBe(true);
  });

  it('asks the container for a rule whenever it is needed, as class-validator does', () => {
    let isValid = false;
    const ruleOfNow = (answer: boolean) => ({ validate: () => answer });
    const get = (rule: unknown) => (rule === Silent ? ruleOfNow(isValid) : undefined);
    class Contained {
      @Validate(Silent) @IsInt() first: unknown = 1;
    }
    useContainer({ get: get as never }, { fallback: true });
    try {
      const validate = compileValidator(Contained);
      expect(validate(new Contained())).toEqual([{ field: 'first', message: '' }]);
      isValid = true;
      expect(validate(new Contained())).toEqual([]);
    } finally {
      useContainer(undefined as never);
    }
  });
});
