import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Module,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Redirect,
  Sse,
} from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiConflictResponse,
  ApiExcludeController,
  ApiExcludeEndpoint,
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
  ApiTags,
  getSchemaPath,
  PartialType,
} from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsDateString,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { of } from 'rxjs';
import { AnyKey, RequireScope } from '../../../../src/platform/http/access.js';
import { ApiRoute } from '../../../../src/platform/http/openapi/api-route.decorator.js';
import { LeadDto } from '../../../../src/modules/leads/lead.dto.js';

enum Channel {
  Letter = 'letter',
  Call = 'call',
}

class AttachmentDto {
  @ApiProperty({ description: 'Name of the file.' }) name: string;
}

class LetterDto {
  @ApiProperty({ enum: ['letter'] }) kind: string;
}

class CallDto {
  @ApiProperty({ enum: ['call'] }) kind: string;
}

class MessageDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ enum: Channel, enumName: 'Channel' }) channel: Channel;
  @ApiProperty({ nullable: true, type: String }) note: string | null;
  @ApiPropertyOptional({ type: [String], maxItems: 5 }) labels?: string[];
  @ApiProperty({ type: () => [AttachmentDto] }) attachments: AttachmentDto[];
  @ApiProperty({ type: () => LeadDto }) lead: LeadDto;
  @ApiProperty() sent_at: Date;
}

class RecipientDto {
  @IsEmail() email: string;
  @IsOptional() @IsString() @MaxLength(20) name?: string;
}

class SendDto {
  @IsString() @Length(1, 500) text: string;
  @IsEnum(Channel) channel: Channel;
  @IsIn([1, 2, 3]) priority: number;
  @IsInt() @Min(1) @Max(9) copies: number;
  @IsNumber() price: number;
  @IsUUID() lead_id: string;
  @IsOptional() @IsDateString() due?: string;
  @Matches(/^[a-z]+$/) slug: string;
  @IsArray()
  @ArrayMaxSize(3)
  @IsString({ each: true })
  @Length(1, 10, { each: true })
  tags: string[];
  @ValidateNested() recipient: RecipientDto;
  @ValidateNested({ each: true }) @Type(() => RecipientDto) copied: RecipientDto[];
  @ApiProperty({ description: 'Described by hand.' }) @IsString() @MaxLength(7) mixed: string;
}

class ChangeDto extends PartialType(SendDto) {}

class FilterDto {
  @IsOptional() @IsEnum(Channel) channel?: Channel;
  @IsInt() @Min(1) @Type(() => Number) page: number;
}

@ApiTags('Messages')
@ApiBearerAuth()
@ApiExtraModels(LetterDto, CallDto)
@Controller('api/v1/leads/:id/messages')
class MessagesController {
  @Post()
  @RequireScope('leads:write')
  @ApiOperation({ summary: 'Send a message', description: 'Sends it now.', deprecated: true })
  @ApiResponse({ status: 201, type: MessageDto, description: 'The sent message.' })
  @ApiConflictResponse({ description: 'It was sent already.' })
  send(@Param('id') id: string, @Body() { text }: SendDto) {
    return { id, text };
  }

  @Get()
  @RequireScope('leads:read')
  @ApiOkResponse({ type: [MessageDto] })
  list(@Query() filter: FilterDto) {
    return [filter];
  }

  @Get('found')
  @RequireScope('leads:read')
  @ApiQuery({ name: 'q', required: false, description: 'Words.' })
  @ApiHeader({ name: 'X-Team', description: 'The team.' })
  @ApiRoute({ summary: 'Find messages', response: MessageDto, errors: ['compliance_blocked'] })
  find(@Query('q') note: string): MessageDto {
    return Object.assign(new MessageDto(), { note });
  }

  @Get(':number')
  @AnyKey()
  @ApiParam({ name: 'number', description: 'Its number.' })
  @ApiOkResponse({
    schema: { oneOf: [{ $ref: getSchemaPath(LetterDto) }, { $ref: getSchemaPath(CallDto) }] },
  })
  get(@Param('number', ParseIntPipe) number: number) {
    return { number };
  }

  @Post(':number/copies')
  @AnyKey()
  @ApiBody({ type: SendDto, isArray: true })
  copy() {
    return {};
  }

  @Delete(':number')
  @RequireScope('leads:write')
  @HttpCode(204)
  delete() {
    return undefined;
  }

  @Get(':number/file')
  @AnyKey()
  @ApiProduces('text/csv')
  @ApiOkResponse({ schema: { type: 'string' } })
  file() {
    return '';
  }

  @Get(':number/original')
  @AnyKey()
  @Redirect('/')
  original() {
    return undefined;
  }

  @Sse(':number/events')
  @AnyKey()
  @ApiProduces('text/event-stream')
  @ApiOkResponse({ type: AttachmentDto })
  events() {
    return of({ data: { name: 'a' } });
  }

  @Post(':number/changes')
  @AnyKey()
  @ApiResponse({ status: 201, type: LeadDto })
  change(@Body() changes: ChangeDto) {
    return changes;
  }

  @Get('hidden/one')
  @AnyKey()
  @ApiExcludeEndpoint()
  hidden() {
    return {};
  }
}

@ApiExcludeController()
@Controller('api/v1/hidden')
class HiddenController {
  @Get()
  @AnyKey()
  get() {
    return {};
  }
}

/** Has the names of a controller, a method and a DTO of Latitude. */
const LeadsController = withNamesOfLatitude();

/** A module of a team that describes its routes with the decorators of @nestjs/swagger. */
@Module({ controllers: [LeadsController, MessagesController, HiddenController] })
export class MessagesModule {}

function withNamesOfLatitude() {
  class TaskDto {
    @ApiProperty() shoe_size: number;
  }
  @Controller('api/v1/a-first-path')
  class LeadsController {
    @Get()
    @AnyKey()
    @ApiOkResponse({ type: TaskDto })
    list() {
      return {};
    }
  }
  return LeadsController;
}
