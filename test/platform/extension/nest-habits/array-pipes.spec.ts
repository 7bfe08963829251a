import { Body, Controller, Get, Module, Param, ParseArrayPipe, ParseIntPipe } from '@nestjs/common';
import { Post, Query } from '@nestjs/common';
import { IsNumber } from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/access.js';
import { dataOf, errorOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const PATH = '/api/v1/arrays';

class PointDto {
  @IsNumber() x: number;
}

const NUMBERS = new ParseArrayPipe({ items: Number });
const ALL_NUMBERS = new ParseArrayPipe({ items: Number, stopAtFirstError: false });
const FLAGS = new ParseArrayPipe({ items: Boolean });
const POINTS = new ParseArrayPipe({ items: PointDto, stopAtFirstError: false });

@Controller(PATH)
class ArraysController {
  @Get('first')
  @AnyKey()
  first(@Query('ids', NUMBERS) ids: number[]) {
    return ids;
  }

  @Get('all')
  @AnyKey()
  all(@Query('ids', ALL_NUMBERS) ids: number[]) {
    return ids;
  }

  @Get('flags')
  @AnyKey()
  flags(@Query('flags', FLAGS) flags: boolean[]) {
    return flags;
  }

  @Get('several/:id')
  @AnyKey()
  several(@Param('id', ParseIntPipe) id: number, @Query('ids', NUMBERS) ids: number[]) {
    return { id, ids };
  }

  @Post()
  @AnyKey()
  body(@Body(NUMBERS) ids: number[]) {
    return ids;
  }

  @Post('part')
  @AnyKey()
  part(@Body('points', POINTS) points: PointDto[]) {
    return points;
  }
}

@Module({ controllers: [ArraysController] })
class ArraysModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [ArraysModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

const NUMBER = 'must be a number';

describe('ParseArrayPipe', () => {
  it('converts the items', async () => {
    expect(dataOf(await tenant.api.get(`${PATH}/first?ids=1,2`))).toEqual([1, 2]);
  });

  it.each([
    ['first?ids=a', [{ field: 'ids.0', message: NUMBER }]],
    ['first?ids=1&ids=a', [{ field: 'ids.1', message: NUMBER }]],
    [
      'all?ids=a,1,b',
      [
        { field: 'ids.0', message: NUMBER },
        { field: 'ids.2', message: NUMBER },
      ],
    ],
    ['flags?flags=true,1', [{ field: 'flags.1', message: 'must be a boolean value' }]],
  ])('names the invalid items of a parameter: %s', async (path, details) => {
    const answer = await tenant.api.get(`${PATH}/${path}`);
    expect(errorOf(answer)).toMatchObject({ code: 'validation_error', details });
    const described = details.map(({ field, message }) => `${field} ${message}`);
    expect(errorOf(answer).message).toBe(described.join('; '));
  });

  it('names the invalid items of a body and of its parts', async () => {
    const whole = await tenant.api.post(PATH, [1, 'a']);
    expect(errorOf(whole).details).toEqual([{ field: '1', message: NUMBER }]);
    const part = await tenant.api.post(`${PATH}/part`, { points: [{ x: 1 }, { x: 'a' }] });
    expect(errorOf(part).details).toMatchObject([{ field: 'points.1.x' }]);
  });

  it('lists the parameters of which one has an invalid item', async () => {
    const { message, details } = errorOf(await tenant.api.get(`${PATH}/several/1?ids=a`));
    expect(message).toBe('One of id, ids is not valid: item 0 must be a number.');
    expect(details).toBeUndefined();
  });
});
