import { Body, Controller, Get, Module, Post, Query } from '@nestjs/common';
import { IntersectionType, PartialType } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  Allow,
  IsArray,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Validate,
  ValidateNested,
  ValidatorConstraint,
} from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { Decimal } from '../../../../src/platform/fields/kinds/decimal.js';
import { Flag, Integer, Tags, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { ListQuery } from '../../../../src/platform/data/lists/list-query.js';
import { dataOf, errorOf, expectError, expectInvalid } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const PATH = '/api/v1/orders';

@ValidatorConstraint({ async: true })
class IsKnownSku {
  validate(sku: unknown) {
    return Promise.resolve(sku !== 'unknown');
  }

  defaultMessage() {
    return 'Nobody sells $value';
  }
}

class TaxDto {
  @IsNumber() rate: number;
}

class ItemDto {
  @Validate(IsKnownSku) sku: string;
  @IsOptional() @ValidateNested() @Type(() => TaxDto) tax?: TaxDto;
}

class OrderDto {
  @IsString() @Length(1, 20) name: string;
  @IsArray() @ValidateNested({ each: true }) @Type(() => ItemDto) items: ItemDto[];
  @IsOptional() @IsString({ each: true }) tags?: string[];
  @IsOptional() @IsObject() facts?: Record<string, unknown>;
  @IsOptional() @Transform(({ value }) => BigInt(value as string)) @Allow() big?: bigint;
}

/** Has fields of Latitude and properties with rules of class-validator. */
class MixedDto {
  @Text({ max: 5, required: true }) title: string;
  @Decimal({ precision: 9, scale: 2 }) price?: string | null;
  @Integer({ min: 1, max: 9, default: 3 }) count?: number;
  @IsOptional() @ValidateNested() @Type(() => TaxDto) tax?: TaxDto;
}

class ChangeDto extends PartialType(MixedDto) {}

class OrderFilter {
  @IsOptional() @IsInt() @Type(() => Number) number?: number;
  @IsOptional() @IsArray() @IsString({ each: true }) ids?: string[];
}

class FieldsFilter {
  @Flag() open?: boolean;
  @Flag({ default: true }) shown?: boolean;
  @Tags() tags?: string[];
}

class OrderQuery extends IntersectionType(ListQuery, OrderFilter) {}
class MixedQuery extends IntersectionType(FieldsFilter, OrderFilter) {}

@Controller(PATH)
class OrdersController {
  @Post()
  @AnyKey()
  create(@Body() { name, items, tags, facts, big }: OrderDto) {
    const classes = items.map((item) => [item, item.tax].map((one) => one?.constructor.name));
    return { name, items, tags, facts, big: String(big), classes };
  }

  @Post('mixed')
  @AnyKey()
  createMixed(@Body() mixed: MixedDto) {
    return mixed;
  }

  @Post('changes')
  @AnyKey()
  change(@Body() change: ChangeDto) {
    return change;
  }

  @Get()
  @AnyKey()
  list(@Query() query: OrderQuery) {
    return query;
  }

  @Get('fields')
  @AnyKey()
  fields(@Query() query: FieldsFilter) {
    return query;
  }

  @Get('mixed')
  @AnyKey()
  listMixed(@Query() query: MixedQuery) {
    return query;
  }
}

@Module({ controllers: [OrdersController] })
class OrdersModule {}

const ORDER = { name: 'Ada', items: [{ sku: 'a' }] };

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [OrdersModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

const get = (path: string) => tenant.api.get(PATH + path);
const post = (path: string, body: unknown) => tenant.api.post(PATH + path, body);
/** JSON of an order with one more property. */
const orderWith = (property: string) => JSON.stringify(ORDER).replace(/\}$/, `,${property}}`);

describe('a body with rules of class-validator', () => {
  it('is an instance of its class, with nested instances', async () => {
    const sent = { ...ORDER, items: [{ sku: 'a', tax: { rate: 0.5 } }], tags: ['x'], big: '12' };
    const facts = { a: { b: [1] } };
    expect(dataOf(await post('', { ...sent, facts }), 201)).toEqual({
      ...{ ...sent, facts },
      classes: [['ItemDto', 'TaxDto']],
    });
  });

  it('names every invalid and every unknown property with its path', async () => {
    const items = [{ sku: 'a' }, { sku: 'unknown', tax: { rate: 'x', more: 1 }, color: 'red' }, 5];
    const answer = await post('', { name: '', items, tags: ['x', 1], nickname: 'A' });
    expectInvalid(
      answer,
      ...['name', 'items.1.sku', 'items.1.tax.rate', 'items.1.tax.more', 'items.1.color'],
      ...['items.2', 'tags', 'nickname'],
    );
    const { details, message } = errorOf(answer);
    expect(details).toContainEqual({ field: 'items.1.sku', message: 'Nobody sells unknown' });
    expect(details).toContainEqual({ field: 'tags', message: 'each value must be a string' });
    expect(message).toMatch(/nickname is unknown or cannot be set; the fields are .*items/);
    expectInvalid(await post('', {}), 'name', 'items');
  });

  it.each(['__proto__', 'constructor', 'toString'])(
    'refuses keys that objects inherit: %s',
    async (name) => {
      expectInvalid(await post('', orderWith(`"${name}":{"admin":true}`)), name);
    },
  );

  it('refuses such keys inside an untyped object, which class-transformer would drop', async () => {
    const answer = await post('', orderWith('"facts":{"a":[{"constructor":"x"}]}'));
    expectInvalid(answer, 'facts.a.0.constructor');
  });

  it.each([[[ORDER]], ['text'], [null], ['']])('must be an object: %j', async (body) => {
    expectInvalid(await post('', body), 'body');
  });

  it('refuses JSON with duplicate keys', async () => {
    expectInvalid(await post('', orderWith('"name":"b"')), 'name');
  });

  it('refuses a value on which a transformation fails', async () => {
    expectInvalid(await post('', { ...ORDER, big: 'many' }), 'body');
  });

  it('is compared by what was sent, for an Idempotency-Key', async () => {
    const send = (big: string) =>
      tenant.api.post(PATH, { ...ORDER, big }, { headers: { 'Idempotency-Key': 'one' } });
    const first = await send('1');
    expect(dataOf(await send('1'), 201)).toEqual(dataOf(first, 201));
    expectError(await send('2'), 422, 'idempotency_key_reused');
  });
});

describe('a body with fields and rules of class-validator', () => {
  it('has normalized fields with their defaults, and the validated properties', async () => {
    const sent = { title: ' Hi ', price: 5, tax: { rate: 0.5 } };
    const expected = { ...sent, title: 'Hi', price: '5.00', count: 3 };
    expect(dataOf(await post('/mixed', sent), 201)).toEqual(expected);
  });

  it('names the problems of both', async () => {
    const answer = await post('/mixed', { title: 5, count: 99, tax: { rate: 'x' }, more: 1 });
    expectInvalid(answer, 'title', 'count', 'tax.rate', 'more');
    const message = 'must be an integer from 1 to 9';
    expect(errorOf(answer).details).toContainEqual({ field: 'count', message });
  });

  it('of PartialType() keeps normalization and null, and has no defaults', async () => {
    const change = { title: ' a ', price: null };
    expect(dataOf(await post('/changes', change), 201)).toEqual({ title: 'a', price: null });
    expectInvalid(
      await post('/changes', { count: 99, tax: {}, more: 1 }),
      'count',
      'tax.rate',
      'more',
    );
  });
});

describe('a query with fields and rules of class-validator', () => {
  it('has the converted properties, and the fields of a list with their defaults', async () => {
    expect(dataOf(await get('?number=2&ids=x&ids=y&limit=7'))).toEqual({
      ...{ page: 1, limit: 7, sort_dir: 'desc' },
      ...{ number: 2, ids: ['x', 'y'] },
    });
    const answer = await get('?number=x&ids=x&color=red&limit=0&page=');
    expectInvalid(answer, 'number', 'ids', 'color', 'limit', 'page');
    expectInvalid(await get('?limit=0&limit=1'), 'limit');
  });

  it.each(['/fields', '/mixed'])('reads its fields from text: %s', async (path) => {
    const read = async (query: string) => dataOf<object>(await get(`${path}?${query}`));
    expect(await read('open=true&shown=false&tags=a&tags=%20b&tags=a')).toEqual({
      ...{ open: true, shown: false, tags: ['a', 'b'] },
    });
    expect(await read('open=')).toEqual({ shown: true, tags: [] });
    expectInvalid(await get(`${path}?open=1&shown=&tags=a&tags=`), 'open', 'shown', 'tags');
    expectInvalid(await get(`${path}?open=true&open=true`), 'open');
  });
});
