import type { Type } from '@nestjs/common';
import {
  Allow,
  ArrayMaxSize,
  Equals,
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
import {
  compare,
  expectedProblems,
  isLeftToClassValidator,
  outcome,
} from '../../../testing/validator-comparison.js';
import { compileValidator } from './validator.js';

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
  // Called after the condition below, whatever that returns. It throws for null and undefined.
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

/** Skipped because of its declared type, whatever it returns. */
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

describe('compiled validation of rules that a module can use', () => {
  it.each<Type<object>>([
    UsualDto,
    ConditionalDto,
    MessagesDto,
    ThrowingDto,
    CustomDto,
    Base,
    Middle,
    InheritedDto,
    SilentHeirDto,
    PropertiesDto,
    BreakingDto,
    GroupsDto,
    UsualNamesDto,
  ])('reports the same errors as class-validator: %p', (dto) => {
    compare(dto, 1000);
  });

  it('leaves only a value that breaks a rule to class-validator', () => {
    const valid = { name: 'Ada', word: 'a', count: 1, late: 'abc', list: [], flag: true };
    const value = Object.assign(new UsualDto(), valid);
    expect(isLeftToClassValidator(UsualDto, value)).toBe(false);
    value.count = 0;
    expect(isLeftToClassValidator(UsualDto, value)).toBe(true);
  });

  it('reports no errors for a class without rules', () => {
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
  ])('uses class-validator for rare rules: %p', (dto) => {
    compare(dto, 1000);
    expect(isLeftToClassValidator(dto)).toBe(true);
  });

  it.each(['toString', '__proto__', 'constructor'])('throws for a property named %s', (name) => {
    class Odd {}
    IsString()(Odd.prototype, name);
    expect(() => compileValidator(Odd)).toThrow(TypeError);
    expect(() => validateSync(new Odd())).toThrow(TypeError);
  });

  it.each([
    ['a plain object', {}],
    ['an instance of another class', new Inner()],
    [
      'an object with the constructor of another class',
      Object.assign(new UsualDto(), { constructor: Inner }),
    ],
    ['an object without a prototype', Object.create(null) as object],
  ])('uses class-validator for a value that is not an instance of the class: %s', (_, value) => {
    const problems = outcome(() => compileValidator(UsualDto)(value));
    expect(problems).toEqual(outcome(() => expectedProblems(value)));
    expect(isLeftToClassValidator(UsualDto, value)).toBe(true);
  });

  it('gets a rule from the container at each validation, like class-validator', () => {
    let isValid = true;
    const ruleOfNow = (answer: boolean) => ({ validate: () => answer });
    const get = (rule: unknown) => (rule === Silent ? ruleOfNow(isValid) : undefined);
    class Contained {
      @Validate(Silent) @IsInt() first: unknown = 1;
    }
    useContainer({ get: get as never }, { fallback: true });
    try {
      const validate = compileValidator(Contained);
      expect(validate(new Contained())).toEqual([]);
      isValid = false;
      expect(validate(new Contained())).toEqual([{ field: 'first', message: '' }]);
      isValid = true;
      expect(validate(new Contained())).toEqual([]);
    } finally {
      useContainer(undefined as never);
    }
  });
});
