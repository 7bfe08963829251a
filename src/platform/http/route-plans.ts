import { type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ApplicationConfig, DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import type { ExpressAdapter } from '@nestjs/platform-express';
import { pathToRegexp } from 'path-to-regexp';
import { declaredHandlers } from '../discovery/declared-handlers.js';
import { aroundHandler, interceptAround } from './response/around-handler.interceptor.js';
import { WriteInterceptor } from './response/write.interceptor.js';
import { bindParameterPipe } from './request/parameter.pipe.js';
import { CATCH_ALL_PATH } from './routes/access.js';
import { planRoutes, type RoutePlan } from './routes/route-plan.js';

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

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly config: ApplicationConfig,
    private readonly adapterHost: HttpAdapterHost<ExpressAdapter>,
    private readonly writes: WriteInterceptor,
  ) {}

  /** Compiles the plans. Must be called before Nest registers the routes, with all global enhancers known. */
  compile(): void {
    const { httpAdapter } = this.adapterHost;
    const handlers = declaredHandlers(this.discovery).map((handler) => ({
      ...handler,
      paths: handler.paths.map((path) => httpAdapter.normalizePath(path)),
    }));
    const plans = planRoutes(handlers, this.globalInterceptors(), [aroundHandler]);
    const isSurrounding = plans.some((plan) => plan.mayWrite && plan.interceptors.length > 0);
    // As the first of all, it surrounds the interceptors of a team. Without these, `aroundHandler` runs it, because a
    // global interceptor would slow down reads.
    if (isSurrounding) this.config.getGlobalInterceptors().unshift(this.writes);
    const writes = isSurrounding ? undefined : this.writes;
    this.plans = plans.map((plan) => (plan.mayWrite ? { ...plan, writes } : plan));
    for (const plan of this.plans) {
      const { controller, handler, interceptors, mayWrite, httpMethod, paths } = plan;
      const ofController = this.byController.get(controller) ?? new Map<unknown, RoutePlan>();
      this.byController.set(controller, ofController.set(handler, plan));
      if (mayWrite || interceptors.length > 0) interceptAround(handler);
      bindParameterPipe(plan);
      for (const path of paths) if (!path.endsWith(CATCH_ALL_PATH)) this.addPath(httpMethod, path);
    }
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

  /** The interceptors of a team for all routes. A request-scoped one has only its prototype. */
  private globalInterceptors(): readonly unknown[] {
    const ofRequests = this.config.getGlobalRequestInterceptors();
    return [
      ...this.config.getGlobalInterceptors(),
      ...ofRequests.map(({ instance }): unknown => instance),
    ];
  }
}
