import { Body, Controller, Get, HttpCode, Post, Query, RequestMethod } from '@nestjs/common';
import {
  declaredPathsOf,
  declaredStatusOf,
  parameterTypeOf,
  requestMethodOf,
} from './nest-internals.js';

class Filter {}
class Thing {}

@Controller(['things', 'objects'])
class ThingsController {
  @Get(':id')
  get(@Query() filter: Filter): Filter {
    return filter;
  }

  @Post()
  @HttpCode(202)
  create(@Query() filter: Filter, @Body() thing: Thing): object[] {
    return [filter, thing];
  }

  helper(): void {
    // This method is not a route.
  }
}

const methods = ThingsController.prototype as unknown as Record<
  'get' | 'create' | 'helper',
  object
>;
const { get, create, helper } = methods;

describe("the metadata of Nest's decorators that the HTTP code relies on", () => {
  it('has the method of a route', () => {
    expect([get, create, helper].map(requestMethodOf)).toEqual([
      RequestMethod.GET,
      RequestMethod.POST,
      undefined,
    ]);
  });

  it('has the paths of a controller and a route', () => {
    expect(declaredPathsOf(ThingsController)).toEqual(['things', 'objects']);
    expect(declaredPathsOf(get)).toEqual([':id']);
  });

  it('has the status of @HttpCode', () => {
    expect([declaredStatusOf(create), declaredStatusOf(get)]).toEqual([202, undefined]);
  });

  it('has the types of @Query and @Body', () => {
    expect(parameterTypeOf(ThingsController, 'create', 'query')).toBe(Filter);
    expect(parameterTypeOf(ThingsController, 'create', 'body')).toBe(Thing);
    expect(parameterTypeOf(ThingsController, 'get', 'body')).toBeUndefined();
  });
});
