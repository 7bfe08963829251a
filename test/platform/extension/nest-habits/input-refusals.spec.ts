import {
  Body,
  Controller,
  Get,
  Module,
  Param,
  Post,
  Query,
  RawBody,
  UsePipes,
} from '@nestjs/common';
import { IsString } from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { JsonObject } from '../../../../src/platform/fields/kinds/kinds.js';
import { NestedList } from '../../../../src/platform/fields/nested.js';
import { TestApp } from '../../../../src/testing/test-app.js';

class Undeclared {
  name: string;
}

class One {
  @IsString() one: string;
}

class Two {
  @IsString() two: string;
}

class ObjectQuery {
  @JsonObject() facts?: object;
  @NestedList(One, { max: 2 }) parts?: One[];
}

@Controller('api/v1/odd')
class OddController {
  @Post('class')
  @AnyKey()
  undeclared(@Body() body: Undeclared) {
    return body;
  }

  @Get('query')
  @AnyKey()
  undeclaredQuery(@Query() query: Undeclared) {
    return query;
  }

  @Get('objects')
  @AnyKey()
  objects(@Query() query: ObjectQuery) {
    return query;
  }

  @Get('date')
  @AnyKey()
  date(@Query('from') from: Date) {
    return from;
  }

  @Get('nested')
  @AnyKey()
  nested(@Query('filter') filter: One) {
    return filter;
  }

  @Get('path/:id')
  @AnyKey()
  path(@Param() parameters: Undeclared) {
    return parameters;
  }

  @Post('text')
  @AnyKey()
  text(@Body() text: string) {
    return text;
  }

  @Post('two')
  @AnyKey()
  two(@Body() one: One, @Body() two: Two) {
    return [one, two];
  }

  @Post('raw')
  @AnyKey()
  raw(@RawBody() bytes: Buffer) {
    return bytes;
  }

  @Get('open')
  open() {
    return {};
  }

  @Post('piped')
  @AnyKey()
  @UsePipes({ transform: (value: unknown) => value })
  piped(@Body() body: Undeclared) {
    return body;
  }
}

@Module({ controllers: [OddController] })
class OddModule {}

const REMEDY =
  'which declares no property to read. Declare its properties with fields such as @Text() or rules such as @IsString(), give the parameter a pipe, or take a Record<string, unknown>.';

const FAULTS = [
  `POST /api/v1/odd/class takes @Body() as Undeclared, ${REMEDY}`,
  `GET /api/v1/odd/query takes @Query() as Undeclared, ${REMEDY}`,
  'GET /api/v1/odd/objects takes @Query() as ObjectQuery, whose fields facts, parts hold objects, which text cannot express. Declare fields for the properties of the objects instead.',
  `GET /api/v1/odd/date takes @Query('from') as Date, ${REMEDY}`,
  "GET /api/v1/odd/nested takes @Query('filter') as One, but its value is a string. Give the parameter a pipe that parses it.",
  `GET /api/v1/odd/path/:id takes @Param() as Undeclared, ${REMEDY}`,
  `POST /api/v1/odd/text takes @Body() as String, ${REMEDY}`,
  'POST /api/v1/odd/two takes the whole body twice, as One and as Two. Combine the classes with IntersectionType.',
  'POST /api/v1/odd/raw takes @RawBody(), which is never set. Take the parsed body with @Body().',
  'GET /api/v1/odd/open declares no access. Add @RequireScope(), @AnyKey() or @Public() to its method.',
];

describe('startup with invalid routes', () => {
  it('fails with one line for each route, which names the remedy', async () => {
    const start = TestApp.start({ modules: [OddModule] });
    const message = await start.then(
      () => 'started',
      (error: unknown) => (error as Error).message,
    );
    expect(message.split('\n')).toEqual(FAULTS);
  });
});
