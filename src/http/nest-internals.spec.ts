import {
  Body,
  Catch,
  Controller,
  Get,
  HttpCode,
  Module,
  type NestInterceptor,
  Next,
  Param,
  ParseBoolPipe,
  ParseIntPipe,
  Post,
  Put,
  Query,
  RawBody,
  Redirect,
  Render,
  RequestMethod,
  Res,
  Scope,
  Sse,
  StreamableFile,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
  Version,
} from '@nestjs/common';
import { APP_PIPE, NestFactory } from '@nestjs/core';
import { ExternalContextCreator } from '@nestjs/core/helpers/external-context-creator.js';
import { EMPTY } from 'rxjs';
import {
  caughtTypesOf,
  controllersIn,
  routePathsOf,
  declaredInterceptorsOf,
  declaredPipesOf,
  declaredStatusOf,
  globalPipesOf,
  hasDefaultErrorHandler,
  hasVersion,
  parametersOf,
  renderedTemplateOf,
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
  @Version('2')
  @UsePipes(ParseIntPipe)
  update(
    @Param('id', ParseIntPipe) id: number,
    @Body('tags') tags: string[],
    @RawBody() bytes: Buffer,
  ): unknown[] {
    return [id, tags, bytes];
  }

  helper(): void {
    // This method is not a route.
  }
}

@Controller({ path: 'versioned', version: '1' })
class VersionedController {}

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
class RequestPipe extends ParseBoolPipe {}

@Module({
  providers: [
    { provide: APP_PIPE, useClass: ParseBoolPipe },
    { provide: APP_PIPE, useClass: RequestPipe, scope: Scope.REQUEST },
  ],
})
class PipesModule {}

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
    expect(routePathsOf(ThingsController, get)).toEqual(['/things/:id', '/objects/:id']);
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
      { source: 'raw body', name: undefined, type: Buffer, pipes: [] },
    ]);
    expect(parametersOf(ThingsController, 'helper')).toEqual([]);
  });

  it('has the pipes of @UsePipes on a controller and a route', () => {
    expect(declaredPipesOf(ThingsController, update)).toEqual([ValidationPipe, ParseIntPipe]);
    expect(declaredPipesOf(ThingsController, create)).toEqual([ValidationPipe]);
  });

  it('has the interceptors of @UseInterceptors, and whether @Version is declared', () => {
    expect(declaredInterceptorsOf(ThingsController, get)).toEqual([interceptor]);
    expect(hasVersion(ThingsController, get)).toBe(false);
    expect(hasVersion(ThingsController, update)).toBe(true);
    expect(hasVersion(VersionedController, helper)).toBe(true);
  });

  it('has the pipes of APP_PIPE and of useGlobalPipes', async () => {
    const app = await NestFactory.create(PipesModule, { logger: false });
    const pipe = new ParseIntPipe();
    app.useGlobalPipes(pipe);
    await app.init();
    expect(globalPipesOf(app.get(ExternalContextCreator))).toEqual([
      expect.any(ParseBoolPipe),
      pipe,
      RequestPipe,
    ]);
    await app.close();
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
    expect(renderedTemplateOf(handler)).toBe(name === 'page' ? 'index' : undefined);
  });
});

describe('the metadata of modules and filters', () => {
  it('has the controllers of a module, and the exceptions of a filter', () => {
    @Module({ controllers: [ThingsController] })
    class ThingsModule {}

    @Catch(TypeError)
    class TypeErrorFilter {
      catch(): void {
        // The filter is never called.
      }
    }

    expect(controllersIn(ThingsModule)).toEqual([ThingsController]);
    expect(controllersIn(Thing)).toEqual([]);
    expect(caughtTypesOf(new TypeErrorFilter())).toEqual([TypeError]);
  });
});

describe('the error handler of a StreamableFile', () => {
  it('is the default until another one is set', () => {
    const file = new StreamableFile(Buffer.alloc(1));
    expect(hasDefaultErrorHandler(file)).toBe(true);
    file.setErrorHandler(() => undefined);
    expect(hasDefaultErrorHandler(file)).toBe(false);
  });
});
