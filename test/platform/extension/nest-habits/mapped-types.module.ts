import { Body, Controller, Get, Module, ParseArrayPipe, Post, Query } from '@nestjs/common';
import { ApiProperty, IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/access.js';
import { UpdateOf } from '../../../../src/platform/fields/field.js';
import { Decimal } from '../../../../src/platform/fields/kinds/decimal.js';
import { Flag, Integer, Tags, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { ApiRoute } from '../../../../src/platform/http/openapi/api-route.decorator.js';
import { Nested } from '../../../../src/platform/fields/nested.js';
import { ListQuery } from '../../../../src/platform/data/lists/list-query.js';

export const PATH = '/api/v1/mapped';

class SizeDto {
  @Integer({ min: 1, max: 9, required: true }) width: number;
  @Text({ max: 5, required: true }) unit: string;
}

class CreateBoxDto {
  @Text({ max: 9, required: true }) name: string;
  @Decimal({ precision: 9, scale: 2 }) price?: string | null;
  @Integer({ min: 1, max: 9, default: 3 }) count?: number;
  @Nested(SizeDto) size?: SizeDto | null;
}

class VersionDto {
  @Integer({ min: 1, max: 9, required: true }) version: number;
}

class NameFilter {
  @IsOptional() @IsString() name?: string;
}

class TextFilter {
  @Text({ max: 5 }) text?: string;
  @Flag() open?: boolean;
  @Tags() tags?: string[];
}

class NamedList extends IntersectionType(ListQuery, NameFilter) {}
class TextList extends IntersectionType(ListQuery, TextFilter) {}
class TwoLists extends IntersectionType(class extends ListQuery {}, class extends ListQuery {}) {}
class PartialList extends PartialType(ListQuery) {}
class PickedList extends PickType(ListQuery, ['page'] as const) {}
class ExtendedList extends ListQuery {
  @IsString() name: string;
}

class ChangeBoxDto extends PartialType(CreateBoxDto) {}
class ChangeVersionDto extends IntersectionType(PartialType(CreateBoxDto), VersionDto) {}
class OmittedBoxDto extends OmitType(CreateBoxDto, ['name'] as const) {}
class UpdateBoxDto extends UpdateOf(CreateBoxDto) {}
class PickedUpdateDto extends PickType(UpdateBoxDto, ['count', 'price'] as const) {}

class LabelDto {
  @IsString() label: string;
}

class MixedDto {
  @Text({ max: 5, required: true, example: 'a' }) title: string;
  @ApiProperty({ description: 'How many.' }) @IsInt() number: number;
  @IsOptional() @ValidateNested() @Type(() => LabelDto) label?: LabelDto;
}

@Controller(PATH)
class MappedController {
  @Get('named')
  @AnyKey()
  named(@Query() query: NamedList) {
    return query;
  }

  @Get('text')
  @AnyKey()
  text(@Query() query: TextList) {
    return query;
  }

  @Get('two')
  @AnyKey()
  two(@Query() query: TwoLists) {
    return query;
  }

  @Get('partial')
  @AnyKey()
  partial(@Query() query: PartialList) {
    return query;
  }

  @Get('picked')
  @AnyKey()
  picked(@Query() query: PickedList) {
    return query;
  }

  @Get('extended')
  @AnyKey()
  extended(@Query() query: ExtendedList) {
    return query;
  }

  @Post('change')
  @AnyKey()
  change(@Body() box: ChangeBoxDto) {
    return box;
  }

  @Post('version')
  @AnyKey()
  version(@Body() box: ChangeVersionDto) {
    return box;
  }

  @Post('omitted')
  @AnyKey()
  omitted(@Body() box: OmittedBoxDto) {
    return box;
  }

  @Post('update')
  @AnyKey()
  update(@Body() box: PickedUpdateDto) {
    return box;
  }

  @Post('part')
  @AnyKey()
  part(@Body('mixed') mixed: MixedDto) {
    return mixed;
  }

  @Post('array')
  @AnyKey()
  array(@Body(new ParseArrayPipe({ items: MixedDto })) mixed: MixedDto[]) {
    return mixed;
  }

  @Post('mixed')
  @AnyKey()
  @ApiRoute({ summary: 'Mix', response: MixedDto })
  mixed(@Body() mixed: MixedDto) {
    return mixed;
  }
}

/** Has DTOs of the mapped types of Nest, and one with fields and rules of class-validator. */
@Module({ controllers: [MappedController] })
export class MappedModule {}
