import {
  Body,
  type ArgumentMetadata,
  BadRequestException,
  Controller,
  DefaultValuePipe,
  Get,
  HostParam,
  Module,
  Param,
  ParseArrayPipe,
  ParseEnumPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  type PipeTransform,
  Post,
  Query,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { Transform, Type } from 'class-transformer';
import { IsInt, IsNumber, IsOptional, IsString, ValidateNested } from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/access.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { dataOf, errorOf, expectError, expectInvalid } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const PATH = '/api/v1/inputs';
const WHITELIST = { whitelist: true, forbidNonWhitelisted: true, transform: true };

class PointDto {
  @IsNumber() x: number;
  @IsOptional() @IsString() label?: string;
}

class LineDto {
  @ValidateNested({ each: true }) @Type(() => PointDto) points: PointDto[];
  /** Fails if it is applied twice. */
  @Transform(({ value }: { value: string }) => value.split(','))
  @IsString({ each: true })
  names: string[];
}

class LabelQuery {
  @IsOptional() @IsString() label?: string;
}

class MixedDto {
  @Text({ max: 5, required: true }) title: string;
  @IsInt() count: number;
}

class Undeclared {
  name: string;
}

interface Shape {
  sides: number;
}

class DoublePipe implements PipeTransform {
  transform(value: number, { data }: ArgumentMetadata) {
    if (value > 100) throw new BadRequestException(`${data} must be at most 100`);
    return value * 2;
  }
}

/** As a pipe for Zod or Joi: it takes the type from its constructor and not from the parameter. */
class SchemaPipe implements PipeTransform {
  transform(value: unknown) {
    const { name } = value as Record<string, unknown>;
    if (typeof name !== 'string') throw new BadRequestException(['name must be a string']);
    return { name, checked: true };
  }
}

@Controller(`${PATH}/named`)
class NamedController {
  @Get()
  @AnyKey()
  query(
    @Query('q') q: string,
    @Query('page') page: number,
    @Query('open') open: boolean,
    @Query('tags') tags: string[],
  ) {
    return { q, page, open, tags };
  }

  @Post()
  @AnyKey()
  body(
    @Body('text') text: string,
    @Body('count') count: number,
    @Body('point') point: PointDto,
    @Body('shape') shape: Shape,
  ) {
    return { text, count, point: point.constructor.name, shape };
  }

  @Get('path/:n/:flag')
  @AnyKey()
  path(@Param('n') n: number, @Param('flag') flag: boolean, @Param() all: Record<string, string>) {
    return { n, flag, all };
  }

  @Get('number/:n')
  @AnyKey()
  number(@Param('n') n: number) {
    return { n };
  }
}

@Controller(`${PATH}/untyped`)
class UntypedController {
  @Get()
  @AnyKey()
  query(@Query() query: Record<string, string>) {
    return query;
  }

  @Post()
  @AnyKey()
  body(@Body() body: Record<string, unknown>, @Body('a') a: unknown) {
    return { body, a };
  }

  @Post('list')
  @AnyKey()
  list(@Body() items: Shape[]) {
    return { items };
  }
}

@Controller(`${PATH}/piped`)
class PipedController {
  @Get('ids/:id')
  @AnyKey()
  id(@Param('id', ParseUUIDPipe) id: string) {
    return { id };
  }

  @Get()
  @AnyKey()
  query(
    @Query('page', new DefaultValuePipe(1), ParseIntPipe) page: number,
    @Query('n', new ParseIntPipe({ optional: true }), DoublePipe) n?: number,
    @Query('ids', new ParseArrayPipe({ items: Number, optional: true })) ids?: number[],
    @Query('kind', new ParseEnumPipe({ A: 'a' }, { optional: true })) kind?: string,
  ) {
    return { page, n, ids, kind };
  }

  @Post()
  @AnyKey()
  points(
    @Body(new ParseArrayPipe({ items: PointDto, stopAtFirstError: false })) points: PointDto[],
  ) {
    return points.map(({ constructor, x }) => ({ type: constructor.name, x }));
  }

  @Post('schema')
  @AnyKey()
  schema(@Body(new SchemaPipe()) shape: Undeclared) {
    return shape;
  }

  @Post('validated')
  @AnyKey()
  validated(@Body(new ValidationPipe(WHITELIST)) line: LineDto) {
    return { type: line.constructor.name, names: line.names, points: line.points.length };
  }

  @Post('used')
  @AnyKey()
  @UsePipes(new ValidationPipe({ ...WHITELIST, errorFormat: 'grouped' }))
  used(@Body() line: LineDto, @Query() query: LabelQuery) {
    return { type: line.constructor.name, query: query.constructor.name };
  }

  @Post('mixed')
  @AnyKey()
  @UsePipes(new ValidationPipe({ transform: true }))
  mixed(@Body() mixed: MixedDto) {
    return { type: mixed.constructor.name, ...mixed };
  }
}

@Controller({ path: `${PATH}/host`, host: ':team.example.com' })
class HostController {
  @Get()
  @AnyKey()
  host(@HostParam('team') team: string) {
    return { team };
  }
}

@Module({ controllers: [NamedController, UntypedController, PipedController, HostController] })
class InputsModule {}

@Module({ providers: [{ provide: APP_PIPE, useValue: new ValidationPipe(WHITELIST) }] })
class GlobalPipeModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [InputsModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

const get = (path: string) => tenant.api.get(`${PATH}${path}`);
const post = (path: string, body: unknown) => tenant.api.post(`${PATH}${path}`, body);
const LINE = { points: [{ x: 1 }], names: 'a,b' };

describe('parameters with a name', () => {
  it('of @Query have the declared types', async () => {
    expect(dataOf(await get('/named?q=5&page=2.5&open=false&tags=a'))).toEqual({
      ...{ q: '5', page: 2.5, open: false, tags: ['a'] },
    });
    expect(dataOf(await get('/named?tags=a&tags=b'))).toEqual({ tags: ['a', 'b'] });
    expect(dataOf(await get('/named'))).toEqual({});
  });

  it('of @Query are rejected if they have another type, are unknown or are repeated', async () => {
    expectInvalid(await get('/named?page=x&open=1'), 'page', 'open');
    expectInvalid(await get('/named?page=&q=a&q=b&size=1'), 'page', 'q', 'size');
  });

  it('of @Body have the declared types, classes included', async () => {
    const sent = { text: 't', count: 1, point: { x: 1 }, shape: { sides: 3 } };
    expect(dataOf(await post('/named', sent), 201)).toEqual({ ...sent, point: 'PointDto' });
    const answer = await post('/named', { text: 5, count: '1', point: { x: 'a', y: 1 }, more: 1 });
    expectInvalid(answer, 'text', 'count', 'point.x', 'point.y', 'more');
    expectInvalid(await tenant.api.post(`${PATH}/named`, undefined), 'point.x');
  });

  it('of @Param have the declared types', async () => {
    const all = { n: '5', flag: 'true' };
    expect(dataOf(await get('/named/path/5/true'))).toEqual({ n: '5', flag: 'true', all });
    expect(dataOf(await get('/named/number/5'))).toEqual({ n: 5 });
    expectInvalid(await get('/named/number/x?more=1'), 'n', 'more');
  });
});

describe('parameters without a class', () => {
  it('of @Query hold the text of every parameter', async () => {
    expect(dataOf(await get('/untyped?a=1&b=x%20y'))).toEqual({ a: '1', b: 'x y' });
    expectInvalid(await get('/untyped?a=1&a=2'), 'a');
  });

  it('of @Body hold the parsed JSON', async () => {
    const body = { a: { b: [1, null, 'x'] } };
    expect(dataOf(await post('/untyped', body), 201)).toEqual({ body, a: body.a });
    expect(dataOf(await post('/untyped', [1]), 201)).toEqual({ body: [1] });
    expect(dataOf(await post('/untyped/list', [{ sides: 3 }]), 201)).toEqual({
      items: [{ sides: 3 }],
    });
    expectInvalid(await post('/untyped', 5), 'body');
    expectInvalid(await post('/untyped', '{"a":1,"a":2}'), 'a');
    expectInvalid(await post('/untyped/list', {}), 'body');
  });
});

describe('parameters with pipes', () => {
  it('are converted and validated by the pipes alone', async () => {
    const id = '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43';
    expect(dataOf(await get(`/piped/ids/${id}`))).toEqual({ id });
    expect(dataOf(await get('/piped?n=4&ids=1,2&kind=a'))).toMatchObject({
      ...{ page: 1, n: 8, ids: [1, 2], kind: 'a' },
    });
    expect(dataOf(await get('/piped?page=3&ids=1&ids=2'))).toMatchObject({ page: 3, ids: [1, 2] });
  });

  it('are named in the error of a pipe', async () => {
    const answer = await get('/piped/ids/x');
    expectInvalid(answer, 'id');
    expect(errorOf(answer).message).toBe('id is not valid: uuid is expected.');
    const several = await get('/piped?page=x');
    expectInvalid(several);
    expect(errorOf(several).message).toBe(
      'One of page, n, ids, kind is not valid: numeric string is expected.',
    );
    expect(errorOf(await get('/piped?n=101')).message).toBe('n must be at most 100');
    expectInvalid(await get('/piped?size=1'), 'size');
  });

  it('can be arrays of DTOs', async () => {
    expect(dataOf(await post('/piped', [{ x: 1 }]), 201)).toEqual([{ type: 'PointDto', x: 1 }]);
    expectInvalid(await post('/piped', [{ x: 'a' }, { x: 1, label: 5 }]), '0.x', '1.label');
  });

  it('can be of a class that only the pipe knows', async () => {
    const answer = await post('/piped/schema', { name: 'a', more: 1 });
    expect(dataOf(answer, 201)).toEqual({ name: 'a', checked: true });
    expectInvalid(await post('/piped/schema', {}), 'name');
  });
});

describe('ValidationPipe', () => {
  it('of a parameter alone transforms and validates the body', async () => {
    const expected = { type: 'LineDto', names: ['a', 'b'], points: 1 };
    expect(dataOf(await post('/piped/validated', LINE), 201)).toEqual(expected);
    const answer = await post('/piped/validated', {
      points: [{ x: 'a', y: 1 }, 5],
      names: 'a',
      z: 1,
    });
    expectInvalid(answer, 'points.0.x', 'points.0.y', 'points', 'z');
  });

  it('of @UsePipes validates the body and the query, also with grouped errors', async () => {
    const answer = await post('/piped/used?label=a', LINE);
    expect(dataOf(answer, 201)).toEqual({ type: 'LineDto', query: 'LabelQuery' });
    expectInvalid(await post('/piped/used', { ...LINE, points: [{ x: 'a' }] }), 'points.0.x');
    expectInvalid(await post('/piped/used?label=a&label=b&more=1', LINE), 'label', 'more');
  });

  it('receives normalized fields of a mixed DTO', async () => {
    const answer = await post('/piped/mixed', { title: ' a ', count: 1 });
    expect(dataOf(answer, 201)).toEqual({ type: 'MixedDto', title: 'a', count: 1 });
    expectInvalid(await post('/piped/mixed', { title: 'too long', count: 1 }), 'title');
    expectInvalid(await post('/piped/mixed', { title: 'a', count: 'x' }), 'count');
  });

  it('of APP_PIPE validates every DTO, those of Latitude included', async () => {
    const global = await TestApp.start({ modules: [GlobalPipeModule, InputsModule] });
    try {
      const { api } = await global.organization();
      const path = `${PATH}/named`;
      expect(dataOf(await api.get(`${path}?page=2&open=true`))).toMatchObject({
        page: 2,
        open: true,
      });
      expectInvalid(await api.post(path, { point: { x: 'a', y: 1 } }), 'x', 'y');
      const lead = { first_name: ' Ada ', last_name: 'L', phone: '+1 202 555 0123', tags: ['a'] };
      const custom = { custom_fields: { a: { b: 1 } } };
      const created = await api.post('/api/v1/leads', { ...lead, ...custom });
      expect(dataOf(created, 201)).toMatchObject({ ...lead, first_name: 'Ada', ...custom });
      expectError(await api.post('/api/v1/leads', { first_name: 5 }), 400, 'validation_error');
    } finally {
      await global.stop();
    }
  });
});
