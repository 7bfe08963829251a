import { IsOptional, IsString } from 'class-validator';
import { UpdateOf } from './field.js';
import { Text } from './kinds.js';
import { assertOnlyFields, hasPlainProperties, isReadable } from './read-class.js';

class FieldsDto {
  @Text({ max: 9 }) title?: string | null;
}

class MixedDto extends FieldsDto {
  @IsOptional() @IsString() first?: string;
  @IsString() second: string;
}

class RefinedDto {
  @Text({ max: 9 }) @IsString() title?: string | null;
}

class UndeclaredDto {
  name: string;
}

class EmptyUpdateDto extends UpdateOf(FieldsDto, { fixed: ['title'] }) {}

describe('the kinds of DTOs', () => {
  it.each([
    [FieldsDto, true, false],
    [MixedDto, true, true],
    [RefinedDto, true, false],
    [EmptyUpdateDto, true, false],
    [UndeclaredDto, false, false],
  ])('%p can be read: %p, and has properties that are no fields: %p', (dto, readable, plain) => {
    expect([isReadable(dto), hasPlainProperties(dto)]).toEqual([readable, plain]);
  });

  it('names the properties that have no schema', () => {
    expect(() => {
      assertOnlyFields('The tool send', FieldsDto);
    }).not.toThrow();
    expect(() => {
      assertOnlyFields('The tool send', MixedDto);
    }).toThrow(
      'The tool send takes MixedDto, whose properties first, second have no schema. Declare them with fields such as @Text().',
    );
  });
});
