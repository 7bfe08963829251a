import {
  Body,
  BadRequestException,
  Controller,
  DefaultValuePipe,
  Get,
  Module,
  Param,
  ParseArrayPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  Post,
  Query,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { Type } from 'class-transformer';
import { IsInt, IsNumber, IsOptional, IsString, ValidateNested } from 'class-validator';
import { AnyKey, Public } from '../../../../src/platform/http/routes/access.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import {
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const PATH = '/api/v1/inputs';
const STRICT = { whitelist: true, forbidNonWhitelisted: true, transform: true };

class PointDto {
  @IsNumber() x: number;
  @IsOptional() @IsString() label?: string;
}

class LineDto {
  @ValidateNested({ each: true }) @Type(() => PointDto) points: PointDto[];
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

/** As a pipe for Zod: it knows the type that the parameter does not declare. */
const SCHEMA_PIPE = {
  transform(value: unknown) {
    const { name } = value as Record<string, unknown>;
    if (typeof name !== 'string') throw new BadRequestException(['name must be a string']);
    return { name, checked: true };
  },
};

const NUMBERS = new ParseArrayPipe({ items: Number, optional: true, stopAtFirstError: false });
const POINTS = new ParseArrayPipe({ items: PointDto, stopAtFirstError: false });

@Controller(PATH)
class InputsController {
  @Get('named')
  @AnyKey()
  query(
    @Query('q') q: string,
    @Query('page') page: number,
    @Query('open') open: boolean,
    @Query('tags') tags: string[],
  ) {
    return { q, page, open, tags };
  }

  @Post('named')
  @AnyKey()
  body(
    @Body('text') text: string,
    @Body('count') count: number,
    @Body('point') point: PointDto,
    @Body('shape') shape: Shape,
  ) {
    return { text, count, point: point.constructor.name, shape };
  }

  @Get('number/:n')
  @AnyKey()
  path(@Param('n') n: number) {
    return { n };
  }

  @Get('text/:text')
  @AnyKey()
  text(@Param('text') text: string) {
    return { text };
  }

  @Get('untyped')
  @AnyKey()
  untypedQuery(@Query() query: Record<string, string>) {
    return query;
  }

  @Post('untyped')
  @AnyKey()
  untyped(@Body() body: Record<string, unknown>) {
    return { body };
  }

  @Post('list')
  @AnyKey()
  list(@Body() items: Shape[]) {
    return { items };
  }

  @Get('piped/:id')
  @AnyKey()
  id(@Param('id', ParseUUIDPipe) id: string) {
    return { id };
  }

  @Get('piped')
  @AnyKey()
  piped(
    @Query('page', new DefaultValuePipe(1), ParseIntPipe) page: number,
    @Query('ids', NUMBERS) ids?: number[],
  ) {
    return { page, ids };
  }

  @Get('numbers')
  @AnyKey()
  numbers(@Query('ids', NUMBERS) ids: number[]) {
    return ids;
  }

  @Post('points')
  @AnyKey()
  points(@Body(POINTS) points: PointDto[]) {
    return points.map(({ constructor, x }) => ({ type: constructor.name, x }));
  }

  @Post('part')
  @AnyKey()
  part(@Body('points', POINTS) points: PointDto[]) {
    return points;
  }

  @Post('schema')
  @AnyKey()
  schema(@Body(SCHEMA_PIPE) shape: Undeclared) {
    return shape;
  }

  @Post('validated')
  @AnyKey()
  validated(@Body(new ValidationPipe(STRICT)) line: LineDto) {
    return { type: line.constructor.name };
  }

  @Post('used')
  @AnyKey()
  @UsePipes(new ValidationPipe({ ...STRICT, errorFormat: 'grouped' }))
  used(@Body() line: LineDto, @Query() query: LabelQuery) {
    return { type: line.constructor.name, query: query.constructor.name };
  }

  @Get('transformed')
  @AnyKey()
  @UsePipes(new ValidationPipe({ transform: true }))
  transformed(@Query('page') page: number) {
    return { page };
  }

  @Get('open/:n')
  @Public()
  open(@Param('n') n: number) {
    return { n };
  }

  @Post('mixed')
  @AnyKey()
  @UsePipes(new ValidationPipe({ transform: true }))
  mixed(@Body() mixed: MixedDto) {
    return mixed;
  }
}

@Module({ controllers: [InputsController] })
class InputsModule {}

@Module({ providers: [{ provide: APP_PIPE, useValue: new ValidationPipe(STRICT) }] })
class GlobalPipeModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [InputsModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

const get = (path: string) => tenant.api.get(`${PATH}/${path}`);
const post = (path: string, body: unknown) => tenant.api.post(`${PATH}/${path}`, body);

describe('parameters with a name', () => {
  it('of @Query() have the declared types', async () => {
    const read = dataOf(await get('named?q=5&page=2.5&open=false&tags=a'));
    expect(read).toEqual({ q: '5', page: 2.5, open: false, tags: ['a'] });
    expect(dataOf(await get('named?tags=a&tags=b'))).toEqual({ tags: ['a', 'b'] });
    expectInvalid(await get('named?page=x&q=a&q=b&size=1'), 'q', 'size');
    expectInvalid(await get('named?page=x'), 'page');
    expectInvalid(await get('named?open=1'), 'open');
  });

  it('of @Body() have the declared types, classes included', async () => {
    const sent = { text: 't', count: 1, point: { x: 1 }, shape: { sides: 3 } };
    expect(dataOf(await post('named', sent), 201)).toEqual({ ...sent, point: 'PointDto' });
    expectInvalid(await post('named', { ...sent, text: 5, more: 1 }), 'more');
    expectInvalid(await post('named', { ...sent, text: 5 }), 'text');
    expectInvalid(await post('named', { ...sent, count: '1' }), 'count');
    expectInvalid(await post('named', { ...sent, point: { x: 'a', y: 1 } }), 'point.x', 'point.y');
    expectInvalid(await post('named', { ...sent, point: 1 }), 'point');
  });

  it('of @Param() have the declared types', async () => {
    expect(dataOf(await get('number/5'))).toEqual({ n: 5 });
    expectInvalid(await get('number/x'), 'n');
    const page = await fetch(`${app.url}${PATH}/open/5`);
    expect(await page.json()).toEqual({ n: 5 });
    expectInvalid(await get('number/5?more=1'), 'more');
  });

  it.each([
    ['a%20b', 'a b'],
    ['a%zz', 'a%zz'],
    ['a%00', 'a%00'],
  ])('of @Param() are decoded if they are text: %s', async (path, text) => {
    expect(dataOf(await get(`text/${path}`))).toEqual({ text });
  });

  it.each(['1e400', '-1e400', '9007199254740993', '-9007199254740993'])(
    'refuse the number %s, which would be altered',
    async (number) => {
      expectInvalid(await get(`number/${number}`), 'n');
      expectInvalid(await get(`named?page=${number}`), 'page');
    },
  );

  it('accept numbers up to 2^53 and small ones, in every notation', async () => {
    for (const [number, n] of [
      ['9007199254740992', 2 ** 53],
      ['-9007199254740992.0', -(2 ** 53)],
      ['1.5e-3', 0.0015],
    ] as const) {
      expect(dataOf(await get(`number/${number}`))).toEqual({ n });
    }
  });
});

describe('parameters without a class', () => {
  it('of @Query() hold the text of every parameter', async () => {
    expect(dataOf(await get('untyped?a=1&b=x%20y'))).toEqual({ a: '1', b: 'x y' });
    expectInvalid(await get('untyped?a=1&a=2'), 'a');
  });

  it('of @Body() hold the parsed JSON', async () => {
    for (const body of [{ a: { b: [1, null, 'x'] } }, [1]]) {
      expect(dataOf(await post('untyped', body), 201)).toEqual({ body });
    }
    expectInvalid(await post('untyped', 5), 'body');
    expectInvalid(await post('untyped', '{"a":1,"a":2}'), 'a');
    expect(dataOf(await post('list', [{ sides: 3 }]), 201)).toEqual({ items: [{ sides: 3 }] });
    expectInvalid(await post('list', {}), 'body');
  });
});

describe('parameters with pipes', () => {
  it('are converted and validated by the pipes alone', async () => {
    expect(dataOf(await get('piped?ids=1,2'))).toEqual({ page: 1, ids: [1, 2] });
    expect(dataOf(await get('piped?page=3&ids=1&ids=2'))).toEqual({ page: 3, ids: [1, 2] });
    expectInvalid(await get('piped?size=1'), 'size');
  });

  it.each<[string, Record<string, string>, string]>([
    ['piped/x', { id: 'is not valid: uuid is expected' }, 'id is not valid: uuid is expected'],
    [
      'numbers?ids=a,1,b',
      { 'ids.0': 'must be a number', 'ids.2': 'must be a number' },
      'ids.0 must be a number; ids.2 must be a number',
    ],
    ['piped?page=x', {}, 'Validation failed (numeric string is expected)'],
  ])('are named in the errors of their pipes: %s', async (path, problems, message) => {
    const answer = await get(path);
    expectInvalid(answer, ...Object.keys(problems));
    expect(errorOf(answer).message).toBe(message);
    for (const { field, message: problem } of errorOf(answer).details ?? []) {
      expect(problem).toBe(problems[field]);
    }
  });

  it('can be arrays of a class, also as a part of a body', async () => {
    expect(dataOf(await post('points', [{ x: 1 }]), 201)).toEqual([{ type: 'PointDto', x: 1 }]);
    expectInvalid(await post('points', [{ x: 'a' }, { x: 1, label: 5 }]), '0.x', '1.label');
    expectInvalid(await post('part', { points: [{ x: 1 }, { x: 'a' }] }), 'points.1.x');
  });

  it('can be of a class that only the pipe knows', async () => {
    const sent = { name: 'a', more: 1 };
    expect(dataOf(await post('schema', sent), 201)).toEqual({ name: 'a', checked: true });
    expectInvalid(await post('schema', {}), 'name');
  });
});

describe('ValidationPipe', () => {
  it('of a parameter alone validates the body', async () => {
    expect(dataOf(await post('validated', { points: [{ x: 1 }] }), 201)).toEqual({
      type: 'LineDto',
    });
    const answer = await post('validated', { points: [{ x: 'a', y: 1 }, 5], z: 1 });
    expectInvalid(answer, 'points.0.x', 'points.0.y', 'points', 'z');
  });

  it('describes an unknown property of any name, in a time that grows with its length', async () => {
    const point = { points: [{ x: 1 }] };
    expectInvalid(await post('validated', { ...point, 'é b': 1 }), 'é b');
    const name = `${'a.'.repeat(40_000)}é`;
    const elapsed = async (long: string) => {
      const start = process.cpuUsage();
      expectError(await post('validated', { ...point, [long]: 1 }), 400, 'validation_error');
      return process.cpuUsage(start).user;
    };
    await elapsed('a');
    expect(await elapsed(name)).toBeLessThan(1_000_000);
  });

  it('of @UsePipes() validates the body and the query, also with grouped errors', async () => {
    const line = { points: [{ x: 1 }] };
    const read = dataOf(await post('used?label=a', line), 201);
    expect(read).toEqual({ type: 'LineDto', query: 'LabelQuery' });
    expectInvalid(await post('used', { points: [{ x: 'a' }] }), 'points.0.x');
    expectInvalid(await post('used?label=a&label=b&more=1', line), 'label', 'more');
  });

  it('normalizes the fields of a class with fields and rules', async () => {
    const read = dataOf(await post('mixed', { title: ' a ', count: 1 }), 201);
    expect(read).toEqual({ title: 'a', count: 1 });
    expectError(await post('mixed', { title: 'too long', count: 1 }), 400, 'validation_error');
    expectInvalid(await post('mixed', { title: 'a', count: 'x' }), 'count');
  });

  it('never passes a number that is none', async () => {
    expect(dataOf(await get('transformed?page=2'))).toEqual({ page: 2 });
    expectInvalid(await get('transformed?page=x'), 'page');
  });

  it('of APP_PIPE leaves the routes of Latitude as they are', async () => {
    const global = await TestApp.start({ modules: [GlobalPipeModule, InputsModule] });
    try {
      const { api } = await global.organization();
      expectInvalid(await api.post(`${PATH}/named`, { point: { x: 'a', y: 1 } }), 'x', 'y');
      const lead = { phone: '+1 202 555 0123', tags: ['a'], custom_fields: { a: { b: 1 } } };
      const created = await api.post(LEADS, { first_name: ' Ada ', ...lead });
      expect(dataOf(created, 201)).toMatchObject({ first_name: 'Ada', ...lead });
      expectError(await api.post(LEADS, { first_name: 5 }), 400, 'validation_error');
    } finally {
      await global.stop();
    }
  });
});
