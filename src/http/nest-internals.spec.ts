import {
  Body,
  Catch,
  Controller,
  Get,
  HttpCode,
  Module,
  Next,
  Post,
  Query,
  Redirect,
  Render,
  RequestMethod,
  Res,
  Sse,
  StreamableFile,
} from '@nestjs/common';
import { EMPTY } from 'rxjs';
import {
  caughtTypesOf,
  controllersIn,
  declaredPathsOf,
  declaredStatusOf,
  hasDefaultErrorHandler,
  parameterTypeOf,
  renderedTemplateOf,
  requestMethodOf,
  writesOwnResponse,
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
