import { PartialType, PickType } from '@nestjs/swagger';
import type { Type } from '@nestjs/common';
import { IsDefined, IsLowercase, ValidateIf } from 'class-validator';
import { compare, isLeftToClassValidator } from '../../../testing/validator-comparison.js';
import { FurtherRule, PickOf, UpdateOf } from '../field.js';
import { readInput } from '../input/read-input.js';
import { Decimal } from '../kinds/decimal.js';
import {
  DateTime,
  Email,
  Flag,
  Integer,
  JsonObject,
  OneOf,
  Phone,
  SomeOf,
  Tags,
  Text,
  Uuid,
} from '../kinds/kinds.js';
import { problemRule } from '../kinds/rules.js';
import { TimeZone } from '../kinds/time-zone.js';
import { Nested, NestedList } from '../nested.js';
import { validatorOf } from './validator.js';

class PartDto {
  @Text({ max: 3, required: true, example: 'a' }) name: string;
  @Integer({ min: 1, max: 9 }) count?: number | null;
}

class EveryKindDto {
  @Text({ min: 2, max: 3, required: true }) text: string;
  @OneOf(['a', 'b'], { default: 'a' }) word: string;
  @SomeOf(['a', 'b'], {}) words?: readonly string[];
  @Phone() phone?: string | null;
  @Email() email?: string | null;
  @Uuid() uuid?: string | null;
  @Flag() flag?: boolean | null;
  @Integer({ min: 1, max: 100 }) integer?: number | null;
  @Decimal({ precision: 5, scale: 2 }) amount?: string | null;
  @DateTime() first?: Date | null;
  @DateTime({ after: 'first' }) second?: Date | null;
  @TimeZone({}) zone?: string | null;
  @Tags() tags: string[];
  @JsonObject() object: object;
  @Nested(PartDto) part?: PartDto | null;
  @NestedList(PartDto, { max: 2 }) parts: PartDto[];
}

class RelatedDto extends PickOf(EveryKindDto, ['text', 'word']) {
  @FurtherRule(
    problemRule('isOther', (value, { word }) =>
      value === word ? 'must not be the word' : undefined,
    ),
  )
  @OneOf(['a', 'b', 'c'])
  other?: string;
}

class OverridingDto extends RelatedDto {
  @Text({ max: 1, required: true }) override text: string;
}

describe('the rules of fields', () => {
  it.each<Type<object>>([
    EveryKindDto,
    UpdateOf(EveryKindDto),
    RelatedDto,
    UpdateOf(RelatedDto),
    OverridingDto,
  ])('are those that class-validator knows, and need no class-validator: %p', (dto) => {
    compare(dto, 1000);
    expect(isLeftToClassValidator(dto)).toBe(false);
  });

  it('report the first broken rule of each field, and those of the parts of a value', () => {
    const value = { text: '', other: 'a', word: 'a' };
    expect(validatorOf(RelatedDto)(value)).toEqual([
      { field: 'text', message: 'must not be empty' },
      { field: 'other', message: 'must not be the word' },
    ]);
    expect(validatorOf(EveryKindDto)({ text: 'abc', parts: [{ count: 0 }] })).toEqual([
      { field: 'parts.0.name', message: 'is required' },
      { field: 'parts.0.count', message: 'must be an integer from 1 to 9' },
    ]);
  });

  it('are copied with their field', () => {
    const dto = UpdateOf(RelatedDto);
    expect(validatorOf(dto)({ word: 'b', other: 'b' })).toEqual([
      { field: 'other', message: 'must not be the word' },
    ]);
  });

  it('can be added to a declared field only', () => {
    class Undeclared {}
    expect(() => {
      FurtherRule(problemRule('any', () => undefined))(Undeclared.prototype, 'name');
    }).toThrow('Undeclared has no field name');
  });
});

class RefinedDto {
  @Text({ max: 9 }) @IsLowercase({ message: 'must be lower case' }) name?: string;
}

class ConditionalDto extends PickOf(EveryKindDto, ['text']) {
  @ValidateIf(({ text }: ConditionalDto) => text === 'abc')
  @IsDefined({ message: 'is missing' })
  @Flag()
  flag?: boolean;
}

class HoldingDto {
  @NestedList(RefinedDto, { max: 2 }) items: RefinedDto[];
}

describe('rules of class-validator on fields', () => {
  it.each<Type<object>>([
    RefinedDto,
    ConditionalDto,
    PartialType(RelatedDto),
    PickType(UpdateOf(EveryKindDto), ['text', 'flag'] as const),
  ])('are applied beside those of the fields: %p', (dto) => {
    compare(dto, 1000);
    expect(isLeftToClassValidator(dto)).toBe(true);
  });

  it('are applied in the items of a list', () => {
    const { problems } = readInput(HoldingDto, { items: [{ name: 'ab' }, { name: 'AB' }] });
    expect(problems).toEqual([{ field: 'items.1.name', message: 'must be lower case' }]);
  });
});
