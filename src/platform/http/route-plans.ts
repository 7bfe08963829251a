import { type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { ExpressAdapter } from '@nestjs/platform-express';
import { pathToRegexp } from 'path-to-regexp';
import type { Settings } from '../config/settings.js';
import { declaredHandlers } from '../discovery/declared-handlers.js';
import { bindWrites, WriteInterceptor } from './response/write.interceptor.js';
import type { ApiRequest } from './request/api-request.js';
import { CATCH_ALL_PATH } from './routes/access.js';
import type { Endpoint } from './routes/route-declarations.js';
import { planRoutes, type RoutePlan } from './routes/route-plan.js';

const API_PATHS = /^\/api(\/|$)/;

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
  private readonly endpoints = new Map<string, Endpoint>();

  constructor(
    private readonly modules: ModulesContainer,
    private readonly adapterHost: HttpAdapterHost<ExpressAdapter>,
    private readonly writes: WriteInterceptor,
  ) {}

  /**
   * Compiles the plans. Must be called before Nest registers the routes.
   * @param adapt changes the plans of routes on which code of a team runs
   */
  compile(adapt: (plans: readonly RoutePlan[]) => readonly RoutePlan[]): void {
    const { httpAdapter } = this.adapterHost;
    const handlers = declaredHandlers(this.modules).map((handler) => ({
      ...handler,
      paths: handler.paths.map((path) => httpAdapter.normalizePath(path)),
    }));
    const plans = planRoutes(handlers).map((plan) =>
      plan.mayWrite && plan.httpMethod === 'POST' ? { ...plan, writes: this.writes } : plan,
    );
    this.plans = adapt(plans);
    for (const plan of this.plans) {
      const { controller, handler, writes, httpMethod, paths, endpoint } = plan;
      const ofController = this.byController.get(controller) ?? new Map<unknown, RoutePlan>();
      this.byController.set(controller, ofController.set(handler, plan));
      if (writes) bindWrites(handler);
      for (const path of paths) {
        if (!path.endsWith(CATCH_ALL_PATH)) this.addPath(httpMethod, path);
        if (endpoint) this.endpoints.set(path, endpoint);
      }
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

  /** Whether a request to an unknown route gets 401 without a key (docs/contract/endpoints.md#unknown-routes). */
  requiresKey({ method, path }: Pick<ApiRequest, 'method' | 'path'>): boolean {
    return method !== 'OPTIONS' && (API_PATHS.test(path) || this.endpointAt(path) !== undefined);
  }

  /** Returns the endpoint at a path, or above it. */
  endpointAt(path: string): Endpoint | undefined {
    for (const [root, endpoint] of this.endpoints) {
      if (path === root || path.startsWith(`${root}/`)) return endpoint;
    }
    return undefined;
  }

  /** Returns what an endpoint says about a path that does not exist. */
  hintAt(path: string, settings: Settings): string | undefined {
    for (const { hintAt } of this.endpoints.values()) {
      const hint = hintAt(path, settings);
      if (hint !== undefined) return hint;
    }
    return undefined;
  }

  /** Returns the methods that a path answers, in alphabetical order. */
  methodsAt(path: string): string[] {
    const matching = this.paths.filter(({ pattern }) => pattern.test(path));
    const methods = new Set(matching.map(({ method }) => method).filter((each) => each !== 'ALL'));
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }
}
