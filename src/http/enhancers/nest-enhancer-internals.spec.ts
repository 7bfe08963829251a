import {
  Controller,
  Get,
  type INestApplication,
  Module,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { applyEnhancerPolicy } from './nest-enhancer-internals.js';

const guard = { canActivate: () => true };
const interceptor = { intercept: (_: unknown, next: { handle(): never }) => next.handle() };
const filter = { catch: () => undefined };

@Controller('things')
@UseGuards({ canActivate: () => true })
@UseInterceptors({ ...interceptor })
class ThingsController {
  @Get()
  list(): object[] {
    return [];
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

describe('the internals of Nest that collect the enhancers of a route', () => {
  let app: INestApplication;
  afterEach(() => app.close());

  it('pass the global enhancers and the controller, and then all enhancers of the route', async () => {
    const calls: unknown[] = [];
    app = await NestFactory.create(ThingsModule, { logger: false });
    app.useGlobalGuards(guard).useGlobalInterceptors(interceptor).useGlobalFilters(filter);
    const ofThings = <T>(name: string, list: T[], controller: unknown): T[] => {
      if (controller === ThingsController) calls.push([name, list]);
      return list;
    };
    applyEnhancerPolicy(app, {
      globalGuards: (guards, controller) => ofThings('guards', guards, controller),
      globalInterceptors: (list, controller) => ofThings('interceptors', list, controller),
      interceptors: (list, handler) => {
        calls.push(['all interceptors', list.length, handler]);
        return list;
      },
      globalFilters: (filters, controller) => ofThings('filters', filters, controller),
      filters: (filters) => {
        expect(filters[0]).toEqual({ func: expect.any(Function), exceptionMetatypes: [] });
        return filters;
      },
    });
    await app.init();
    const { list } = ThingsController.prototype as unknown as Record<string, unknown>;
    expect(calls).toEqual(
      expect.arrayContaining([
        ['guards', [guard]],
        ['interceptors', [interceptor]],
        ['all interceptors', 2, list],
        ['filters', [filter]],
      ]),
    );
  });
});
