import {
  Body,
  Controller,
  Get,
  HttpCode,
  type NestInterceptor,
  Next,
  Param,
  ParseIntPipe,
  Post,
  Put,
  Query,
  Redirect,
  Render,
  RequestMethod,
  Res,
  Sse,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { EMPTY } from 'rxjs';
import {
  routePathsOf,
  declaredStatusOf,
  enhancersOf,
  parametersOf,
  requestMethodOf,
  writesOwnResponse,
} from './nest-internals.js';

class Filter {}
class Thing {}

const interceptor: NestInterceptor = { intercept: (_, next) => next.handle() };

@Controller(['things', 'objects'])
@UsePipes(ValidationPipe)
@UseInterceptors(interceptor)
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

  @Put(':id')
  @UsePipes(ParseIntPipe)
  update(@Param('id', ParseIntPipe) id: number, @Body('tags') tags: string[]): unknown[] {
    return [id, tags];
  }

  helper(): void {
    // This method is not a route.
  }
}

class ResponsesController {
  @Redirect('/there')
  redirect(): void {
    // Nest redirects.
  }

  @Render('index')
  page(): object {
    return {};
  }

  @Sse()
  events() {
    return EMPTY;
  }

  response(@Res() response: object): object {
    return response;
  }

  next(@Next() next: object): object {
    return next;
  }

  passthrough(@Res({ passthrough: true }) response: object): object {
    return response;
  }
}
const methods = ThingsController.prototype as unknown as Record<
  'get' | 'create' | 'update' | 'helper',
  object
>;
const { get, create, update, helper } = methods;

describe("the metadata of Nest's decorators that the HTTP code relies on", () => {
  it('has the method of a route', () => {
    expect([get, create, helper].map(requestMethodOf)).toEqual([
      RequestMethod.GET,
      RequestMethod.POST,
      undefined,
    ]);
  });

  it('has the paths of a controller and a route', () => {
    expect(routePathsOf([''], ThingsController, get)).toEqual(['/things/:id', '/objects/:id']);
    expect(routePathsOf(['/a', '/b'], ThingsController, create)).toEqual([
      '/a/things',
      '/a/objects',
      '/b/things',
      '/b/objects',
    ]);
  });

  it('has the status of @HttpCode', () => {
    expect([declaredStatusOf(create), declaredStatusOf(get)]).toEqual([202, undefined]);
  });

  it('has the sources, names, types and pipes of parameters', () => {
    expect(parametersOf(ThingsController, 'create')).toEqual([
      { source: 'query', name: undefined, type: Filter, pipes: [] },
      { source: 'body', name: undefined, type: Thing, pipes: [] },
    ]);
    expect(parametersOf(ThingsController, 'update')).toEqual([
      { source: 'param', name: 'id', type: Number, pipes: [ParseIntPipe] },
      { source: 'body', name: 'tags', type: Array, pipes: [] },
    ]);
    expect(parametersOf(ThingsController, 'helper')).toEqual([]);
  });

  it('has the pipes of @UsePipes on a controller and a route', () => {
    expect(enhancersOf('pipes', ThingsController, update)).toEqual([ValidationPipe, ParseIntPipe]);
    expect(enhancersOf('pipes', ThingsController, create)).toEqual([ValidationPipe]);
  });

  it('has the interceptors of @UseInterceptors', () => {
    expect(enhancersOf('interceptors', ThingsController, get)).toEqual([interceptor]);
  });

  it.each([
    ['redirect', true],
    ['page', true],
    ['events', true],
    ['response', true],
    ['next', true],
    ['passthrough', false],
  ] as const)('has whether a handler writes its own response: %s', (name, expected) => {
    const { prototype } = ResponsesController;
    const handler = Object.getOwnPropertyDescriptor(prototype, name)!.value as () => object;
    expect(writesOwnResponse(ResponsesController, handler)).toBe(expected);
  });
});
