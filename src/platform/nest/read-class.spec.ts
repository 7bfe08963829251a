import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, ValidateNested } from 'class-validator';
import { fieldsOf, namesOf, UpdateOf } from '../fields/field.js';
import { DateTime, Integer, Text } from '../fields/kinds/kinds.js';
import {
  assertOnlyFields,
  hasPlainProperties,
  isReadable,
} from '../fields/validation/properties.js';
import { readClass } from './read-class.js';

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
  ])('%p can be read: %p, and has properties that are not fields: %p', (dto, readable, plain) => {
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

class PointDto {
  @IsInt() x: number;
}

class RouteDto {
  @ValidateNested({ each: true }) @Type(() => PointDto) points: PointDto[];
  @Transform(({ value }: { value: string }) => value.trim()) @IsString() name: string;
}

class TimedDto {
  @Text({ max: 5, required: true }) title: string;
  @DateTime() at?: Date | null;
}

class PartialRouteDto extends PartialType(RouteDto) {}
class PickedRouteDto extends PickType(RouteDto, ['name'] as const) {}
class OmittedRouteDto extends OmitType(RouteDto, ['name'] as const) {}
class TimedRouteDto extends IntersectionType(RouteDto, PartialType(TimedDto)) {}

describe('mapped types of Nest', () => {
  it.each([
    [PartialRouteDto, { points: [{ x: 1 }] }, []],
    [PartialRouteDto, { points: [{ x: 'a' }], more: 1 }, ['more', 'points.0.x']],
    [PickedRouteDto, { name: ' a ', points: [] }, ['points']],
    [OmittedRouteDto, { points: [{ x: 1 }] }, []],
    [TimedRouteDto, { points: [], name: 'a', title: ' t ', at: '2026-01-02' }, []],
    [TimedRouteDto, { points: [], name: 'a', title: 'too long', at: 'x' }, ['title', 'at']],
  ])('%p reads %j with problems of %j', async (dto, plain, fields) => {
    const { problems } = await readClass<object>(dto, plain);
    expect(problems.map(({ field }) => field).sort()).toEqual([...fields].sort());
  });

  it('normalize the fields that they copy', async () => {
    const plain = { points: [{ x: 1 }], name: ' a ', title: ' t ', at: '2026-01-02' };
    const { value } = await readClass(TimedRouteDto, plain);
    expect(value).toMatchObject({ name: 'a', title: 't', at: new Date('2026-01-02') });
    expect(value.points[0]).toBeInstanceOf(PointDto);
  });
});

class CreateDto {
  @Text({ max: 5, required: true }) title: string;
  @Integer({ min: 1, max: 9, default: 3 }) count?: number;
}

class FirstDto extends CreateDto {}
class SecondDto extends CreateDto {}

describe('the fields of mapped types of Nest', () => {
  it.each([
    [PickType(CreateDto, ['count'] as const), [{ name: 'count', presence: { default: 3 } }]],
    [OmitType(CreateDto, ['count'] as const), [{ name: 'title', presence: { required: true } }]],
    [
      IntersectionType(FirstDto, SecondDto),
      [
        { name: 'title', presence: { required: true } },
        { name: 'count', presence: { default: 3 } },
      ],
    ],
    [
      PartialType(CreateDto),
      [
        { name: 'title', presence: {}, isChange: true },
        { name: 'count', presence: {}, isChange: true },
      ],
    ],
    [
      PickType(UpdateOf(CreateDto), ['count'] as const),
      [{ name: 'count', presence: {}, isChange: true }],
    ],
  ])('%p has the fields of its classes', (dto, fields) => {
    expect(fieldsOf(dto)).toEqual(fields.map((field) => expect.objectContaining(field) as object));
  });

  it('precede those of a derived class', () => {
    class DerivedDto extends IntersectionType(CreateDto, TimedDto) {
      @Text({ max: 5 }) city?: string;
    }
    expect(namesOf(DerivedDto)).toEqual(['title', 'count', 'at', 'city']);
  });
});

class LimitedDto {
  @IsInt({ message: 'must be an integer up to 9' })
  @Max(9, { message: 'must be an integer up to 9' })
  limit: number;
}

it('words a message that several rules share once', async () => {
  const { problems } = await readClass(LimitedDto, { limit: 'x' });
  expect(problems).toEqual([{ field: 'limit', message: 'must be an integer up to 9' }]);
});
