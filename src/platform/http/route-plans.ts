import { type ExecutionContext, Injectable, type NestInterceptor, type Type } from '@nestjs/common';
import {
  APP_INTERCEPTOR,
  ApplicationConfig,
  DiscoveryService,
  HttpAdapterHost,
} from '@nestjs/core';
import type { ExpressAdapter } from '@nestjs/platform-express';
import { pathToRegexp } from 'path-to-regexp';
import { declaredHandlers } from '../discovery/declared-handlers.js';
import { aroundHandler, interceptAround } from './response/around-handler.interceptor.js';
import { WriteInterceptor } from './response/write.interceptor.js';
import { CATCH_ALL_PATH } from './routes/access.js';
import { type GlobalEnhancers, planRoutes, type RoutePlan } from './routes/route-plan.js';

/** A path that the application answers. */
interface AnsweredPath {
  readonly method: string;
  /** Matches paths as the router does. */
  readonly pattern: RegExp;
}

/** The plans of all routes of the application. */
@Injectable()
export class RoutePlans {
  private plans: readonly RoutePlan[] = [];
  private readonly byController = new Map<Type<unknown>, Map<unknown, RoutePlan>>();
  private readonly paths: AnsweredPath[] = [];
  /** The interceptor of writes around those of a team. Elsewhere, `aroundHandler` runs it. */
  private readonly surrounding: NestInterceptor = {
    intercept: (context, next) => {
      const plan = this.of(context);
      const isIntercepted = plan !== undefined && plan.interceptors.length > 0;
      return isIntercepted ? this.writes.intercept(context, next) : next.handle();
    },
  };

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly config: ApplicationConfig,
    private readonly adapterHost: HttpAdapterHost<ExpressAdapter>,
    private readonly writes: WriteInterceptor,
  ) {
    // Before Nest registers them, so that it surrounds them.
    const tokens = discovery.getProviders().map(({ token }) => String(token));
    if (tokens.some((token) => token.startsWith(APP_INTERCEPTOR))) this.surround();
  }

  /** Compiles the plans. Must be called before Nest registers the routes, with all global enhancers known. */
  compile(): void {
    const { httpAdapter } = this.adapterHost;
    const handlers = declaredHandlers(this.discovery).map((handler) => ({
      ...handler,
      paths: handler.paths.map((path) => httpAdapter.normalizePath(path)),
    }));
    const { writes } = this;
    this.plans = planRoutes(handlers, this.globalEnhancers(), [aroundHandler]).map((plan) =>
      plan.mayWrite ? { ...plan, writes } : plan,
    );
    for (const plan of this.plans) {
      const { controller, handler, interceptors, mayWrite, httpMethod, paths } = plan;
      const ofController = this.byController.get(controller) ?? new Map<unknown, RoutePlan>();
      this.byController.set(controller, ofController.set(handler, plan));
      if (mayWrite || interceptors.length > 0) interceptAround(handler);
      for (const path of paths) if (!path.endsWith(CATCH_ALL_PATH)) this.addPath(httpMethod, path);
    }
    if (this.plans.some(({ mayWrite, interceptors }) => mayWrite && interceptors.length > 0)) {
      this.surround();
    }
  }

  private surround(): void {
    if (this.config.getGlobalInterceptors().includes(this.surrounding)) return;
    this.config.useGlobalInterceptors(this.surrounding);
  }

  /** Adds a path that is answered without a controller. */
  addPath(method: string, path: string): void {
    const { regexp: pattern } = pathToRegexp(path, { sensitive: true, trailing: false });
    this.paths.push({ method, pattern });
  }

  all(): readonly RoutePlan[] {
    return this.plans;
  }

  /** Returns the plan of the handler that Nest is about to call. */
  of(context: ExecutionContext): RoutePlan | undefined {
    return this.byController.get(context.getClass())?.get(context.getHandler());
  }

  /** Returns the methods that a path answers, in alphabetical order. */
  methodsAt(path: string): string[] {
    const matching = this.paths.filter(({ pattern }) => pattern.test(path));
    const methods = new Set(matching.map(({ method }) => method).filter((each) => each !== 'ALL'));
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }

  /** A request-scoped enhancer has only its prototype. */
  private globalEnhancers(): GlobalEnhancers {
    const { config } = this;
    const global = config.getGlobalInterceptors();
    const own = global.indexOf(this.surrounding);
    const ofRequests = config.getGlobalRequestInterceptors();
    return {
      interceptors: [
        ...global.filter((interceptor) => interceptor !== this.surrounding),
        ...ofRequests.map(({ instance }): unknown => instance),
      ],
      // If it is not registered yet, it becomes the last one.
      hasOuterInterceptors: own === -1 ? global.length > 0 : own > 0,
      pipes: [
        ...config.getGlobalPipes(),
        ...config.getGlobalRequestPipes().map(({ instance }): unknown => instance),
      ],
    };
  }
}
