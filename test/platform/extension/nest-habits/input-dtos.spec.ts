import { Body, Controller, Get, Module, Post, Put, Query } from '@nestjs/common';
import { Expose, Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsDate,
  IsDefined,
  IsEnum,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsPositive,
  IsString,
  Length,
  registerDecorator,
  Validate,
  ValidateIf,
  ValidateNested,
  ValidatorConstraint,
} from 'class-validator';
import { AnyKey, Public } from '../../../../src/platform/http/access.js';
import { UpdateOf } from '../../../../src/platform/fields/field.js';
import { DateTime, Integer, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { ListQuery } from '../../../../src/platform/data/lists/list-query.js';
import { dataOf, errorOf, expectError, expectInvalid } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const PATH = '/api/v1/orders';

enum Priority {
  Low = 'low',
  High = 'high',
}

@ValidatorConstraint({ async: true })
class IsKnownSku {
  validate(sku: unknown) {
    return Promise.resolve(sku !== 'unknown');
  }

  defaultMessage() {
    return 'Nobody sells $value';
  }
}

function IsShouted(): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'isShouted',
      target: target.constructor,
      propertyName: property as string,
      validator: {
        validate: (value) => typeof value === 'string' && value === value.toUpperCase(),
        defaultMessage: () => '$property must be in capitals',
      },
    });
  };
}

class TaxDto {
  @IsNumber({ maxDecimalPlaces: 3 }) rate: number;
}

class ItemDto {
  @Validate(IsKnownSku) sku: string;
  @IsNumber({ maxDecimalPlaces: 2 }) @IsPositive() price: number;
  @IsOptional() @ValidateNested() @Type(() => TaxDto) tax?: TaxDto;
}

class PartyDto {
  @IsString() @Length(1, 20) name: string;
}

/** Inherits a property, and has properties of every sort. */
class CreateOrderDto extends PartyDto {
  @ValidateNested({ each: true }) @Type(() => ItemDto) @ArrayNotEmpty() items: ItemDto[];
  @IsEnum(Priority) priority: Priority = Priority.Low;
  @IsOptional() @IsDate() @Type(() => Date) due?: Date;
  @IsOptional() @IsString({ each: true }) tags?: string[];
  @IsOptional() @IsShouted() code?: string;
  @IsOptional() @Transform(({ value }) => String(value).trim()) @IsString() note?: string;
  @IsOptional() @IsObject() facts?: Record<string, unknown>;
  @ValidateIf((order: CreateOrderDto) => order.priority === Priority.High)
  @IsDefined()
  why?: string;
  @Allow() @Expose({ name: 'external-id' }) externalId?: unknown;
  @IsOptional() @Transform(({ value }) => BigInt(value as string)) @Allow() big?: bigint;
}

/** Has fields of Latitude and properties with rules of class-validator. */
class CreateMixedDto {
  @Text({ max: 5, required: true }) title: string;
  @Text({ max: 20 }) remark?: string | null;
  @Integer({ min: 1, max: 9, default: 3 }) count?: number;
  @DateTime() at?: Date | null;
  @IsOptional() @ValidateNested() @Type(() => TaxDto) tax?: TaxDto;
}

class UpdateMixedDto extends UpdateOf(CreateMixedDto, { fixed: ['count'] }) {
  @IsOptional() @IsBoolean() loud?: boolean;
}

class OrderQuery {
  @IsOptional() @IsInt() @Type(() => Number) page?: number;
  @IsOptional() @IsString() search?: string;
  @IsOptional() @IsArray() @IsString({ each: true }) tags?: string[];
}

class MixedQuery extends ListQuery {
  @IsOptional() @IsArray() ids?: string[];
}

/** Describes a DTO as the handler sees it. */
function seen(dto: object): Record<string, unknown> {
  const withBigInts = (_: string, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value;
  const sent = JSON.parse(JSON.stringify(dto, withBigInts)) as Record<string, unknown>;
  return { seen: dto.constructor.name, ...sent };
}

@Controller(PATH)
class OrdersController {
  @Post()
  @AnyKey()
  create(@Body() order: CreateOrderDto) {
    const [item] = order.items;
    return {
      ...seen(order),
      classes: [item, item?.tax, order.due].map((one) => one?.constructor.name),
    };
  }

  @Post('mixed')
  @AnyKey()
  createMixed(@Body() mixed: CreateMixedDto) {
    return seen(mixed);
  }

  @Put('mixed')
  @AnyKey()
  updateMixed(@Body() mixed: UpdateMixedDto) {
    return seen(mixed);
  }

  @Get()
  @AnyKey()
  list(@Query() query: OrderQuery) {
    return seen(query);
  }

  @Get('mixed')
  @AnyKey()
  listMixed(@Query() query: MixedQuery) {
    return seen(query);
  }
}

@Controller('callback')
class CallbackController {
  @Post()
  @Public()
  call(@Query('state') state: string, @Body() party: PartyDto) {
    return { state, ...seen(party) };
  }
}

@Module({ controllers: [OrdersController, CallbackController] })
class OrdersModule {}

const ITEM = { sku: 'a', price: 1.25 };
const ORDER = { name: 'Ada', items: [ITEM] };

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [OrdersModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

const create = (order: unknown) => tenant.api.post(PATH, order);
const problemsOf = (answer: Parameters<typeof errorOf>[0]) =>
  Object.fromEntries((errorOf(answer).details ?? []).map(({ field, message }) => [field, message]));

describe('@Body() with rules of class-validator', () => {
  it('is an instance of the class, with nested instances and the defaults of the class', async () => {
    const due = '2026-01-02T03:04:05.000Z';
    const item = { ...ITEM, tax: { rate: 0.075 } };
    const sent = { ...ORDER, items: [item], due, tags: ['x'], code: 'A', note: ' n ', big: '12' };
    const data = dataOf(await create({ ...sent, 'external-id': 7, facts: { a: { b: [1] } } }), 201);
    expect(data).toEqual({
      ...{ ...sent, note: 'n', big: '12n', externalId: 7, facts: { a: { b: [1] } } },
      ...{ seen: 'CreateOrderDto', priority: 'low', classes: ['ItemDto', 'TaxDto', 'Date'] },
    });
  });

  it('reports every problem with the path of its property', async () => {
    const answer = await create({
      name: '',
      items: [
        ITEM,
        { sku: 'unknown', price: -1.234, tax: { rate: 'x', more: 1 }, color: 'red' },
        5,
      ],
      priority: 'urgent',
      tags: ['x', 1],
      code: 'a',
      nickname: 'A',
    });
    expectInvalid(
      answer,
      ...['name', 'items.1.sku', 'items.1.price', 'items.1.tax.rate', 'items.1.tax.more'],
      ...['items.1.color', 'items.2', 'priority', 'tags', 'code', 'nickname'],
    );
    expect(problemsOf(answer)).toMatchObject({
      name: 'must be longer than or equal to 1 characters',
      'items.1.sku': 'Nobody sells unknown',
      'items.1.price': expect.stringContaining('must be a positive number') as string,
      'items.1.color': 'is unknown or cannot be set',
      'items.2': 'must be either object or array',
      priority: 'must be one of the following values: low, high',
      tags: 'each value must be a string',
      code: 'must be in capitals',
    });
    const { message } = errorOf(answer);
    expect(message).toContain('items.1.sku: Nobody sells unknown;');
    expect(message).toContain('code must be in capitals');
    expect(message).toMatch(/nickname is unknown or cannot be set; the fields are .*items/);
  });

  it.each([[{}], [{ name: 'Ada' }], [{ name: 'Ada', items: [] }], [{ name: 'Ada', items: {} }]])(
    'rejects missing properties: %j',
    async (order) => {
      const answer = await create(order);
      expectError(answer, 400, 'validation_error');
      expect(Object.keys(problemsOf(answer))).toContain('items');
    },
  );

  it('evaluates the conditions of ValidateIf', async () => {
    expectInvalid(await create({ ...ORDER, priority: 'high' }), 'why');
    dataOf(await create({ ...ORDER, priority: 'high', why: 'now' }), 201);
  });

  it.each([[[ORDER]], ['text'], [5], [null]])(
    'rejects a body that is not an object: %j',
    async (body) => {
      expectInvalid(await create(body), 'body');
    },
  );

  it('rejects invalid JSON, duplicate keys and a wrong content type as everywhere', async () => {
    expectInvalid(await create('{"name":"a","name":"b"}'), 'name', 'items');
    expectInvalid(await create(''), 'body');
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'drops no key that objects inherit: %s',
    async (name) => {
      const odd = (path: string) =>
        JSON.stringify(ORDER).replace(/\}$/, `,"${path}":{"admin":true}}`);
      expectInvalid(await create(odd(name)), name);
    },
  );

  it('rejects keys that class-transformer would drop inside untyped objects', async () => {
    const text = JSON.stringify(ORDER).replace(/\}$/, ',"facts":{"a":[{"constructor":"x"}]}}');
    expectInvalid(await create(text), 'facts.a.0.constructor');
  });

  it('rejects a value on which a transformation fails', async () => {
    expectInvalid(await create({ ...ORDER, big: 'many' }), 'body');
    expectInvalid(await create({ ...ORDER, big: {} }), 'body');
  });

  it('compares retries with an Idempotency-Key by what was sent', async () => {
    const options = { headers: { 'Idempotency-Key': 'one' } };
    const first = await tenant.api.post(PATH, { ...ORDER, big: '1' }, options);
    const again = await tenant.api.post(PATH, { ...ORDER, big: '1' }, options);
    expect(dataOf(again, 201)).toEqual(dataOf(first, 201));
    const other = await tenant.api.post(PATH, { ...ORDER, big: '2' }, options);
    expectError(other, 422, 'idempotency_key_reused');
  });
});

describe('a DTO with fields and rules of class-validator', () => {
  it('reads both: fields are normalized and have their defaults', async () => {
    const sent = { title: ' Hi ', remark: ' ', at: '2026-01-02', tax: { rate: 0.5 } };
    expect(dataOf(await tenant.api.post(`${PATH}/mixed`, sent), 201)).toEqual({
      seen: 'CreateMixedDto',
      title: 'Hi',
      count: 3,
      at: '2026-01-02T00:00:00.000Z',
      tax: { rate: 0.5 },
    });
  });

  it('reports the problems of both', async () => {
    const sent = { title: 5, count: 99, at: 'soon', tax: { rate: 'x' }, more: 1 };
    const answer = await tenant.api.post(`${PATH}/mixed`, sent);
    expectInvalid(answer, 'title', 'count', 'at', 'tax.rate', 'more');
    expect(problemsOf(answer)).toMatchObject({
      title: 'must be a string',
      count: 'must be an integer from 1 to 9',
    });
  });

  it('is an update with null, without defaults, and with fixed fields', async () => {
    const put = (changes: object) => tenant.api.put(`${PATH}/mixed`, changes);
    expect(dataOf(await put({ remark: null, loud: true }))).toEqual({
      seen: 'UpdateMixedDto',
      remark: null,
      loud: true,
    });
    const answer = await put({ title: null, count: 1, loud: 'x' });
    expectInvalid(answer, 'title', 'count', 'loud');
    expect(problemsOf(answer).count).toBe('cannot be changed');
  });
});

describe('@Query() with rules of class-validator', () => {
  it('converts text by @Type, and collects repeated parameters', async () => {
    const answer = await tenant.api.get(`${PATH}?page=2&search=a%20b&tags=x&tags=y`);
    expect(dataOf(answer)).toEqual({
      seen: 'OrderQuery',
      page: 2,
      search: 'a b',
      tags: ['x', 'y'],
    });
  });

  it('reports every problem', async () => {
    const answer = await tenant.api.get(`${PATH}?page=x&search=a&search=b&tags=x&color=red`);
    expectInvalid(answer, 'page', 'search', 'tags', 'color');
    expect(problemsOf(answer)).toMatchObject({
      page: 'must be an integer number',
      color: 'is unknown; the parameters are page, search, tags',
    });
  });

  it('has the fields of a list as well', async () => {
    const answer = await tenant.api.get(`${PATH}/mixed?limit=7&ids=1&ids=2`);
    expect(dataOf(answer)).toMatchObject({ page: 1, limit: 7, ids: ['1', '2'] });
    expectInvalid(
      await tenant.api.get(`${PATH}/mixed?limit=0&page=&ids=1`),
      'limit',
      'page',
      'ids',
    );
  });
});

describe('inputs of a public route', () => {
  it('are read as declared, and other parameters are ignored', async () => {
    const answer = await app.client().post('/callback?state=x&other=1', { name: 'Ada' });
    expect(answer).toMatchObject({
      status: 201,
      body: { state: 'x', seen: 'PartyDto', name: 'Ada' },
    });
    expectInvalid(await app.client().post('/callback', { name: 5 }), 'name');
  });
});
