import { Injectable } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { enhancersOf } from '../discovery/nest-internals.js';
import { AccessGuard } from '../http/guards/access.guard.js';
import { WriteInterceptor, writesOfPlan } from '../http/response/write.interceptor.js';
import { isLatitudeController } from '../http/routes/api-controller.decorator.js';
import type { RoutePlan, TeamHandling } from '../http/routes/route-plan.js';
import { faultOfCache } from './cache-check.js';
import { bindPlainResults, handPlainResults, serializeIntercepted } from './intercepted-results.js';
import { bindParameterPipe } from './parameter.pipe.js';
import { pipedParametersOf, pipeProblems } from './pipe-problems.js';
import { RouteThrottle } from './route-throttle.js';

/** Finds the routes on which code of a team runs, and adapts their plans and handlers to it. */
@Injectable()
export class TeamRoutes {
  constructor(
    private readonly config: ApplicationConfig,
    private readonly writes: WriteInterceptor,
    private readonly throttle: RouteThrottle,
  ) {}

  /**
   * Must be called before Nest registers the routes, with all global enhancers known.
   * @throws Error whose message has one line for each enhancer that would weaken the checks of Latitude
   */
  adapt(plans: readonly RoutePlan[]): readonly RoutePlan[] {
    const global = this.globalInterceptors();
    const routes = plans.map((plan) => ({ plan, ofHandler: interceptorsOf(plan) }));
    const cached = routes.flatMap(
      ({ plan, ofHandler }) => faultOfCache(plan, [...global, ...ofHandler]) ?? [],
    );
    const faults = [...this.earlyGuards(), ...cached];
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const adapted = routes.map(({ plan, ofHandler }) =>
      this.adaptPlan(plan, global.length + ofHandler.length > 0, ofHandler.length > 0),
    );
    const isIntercepted = adapted.some(({ writes, team }) => writes && team?.serialize);
    if (!isIntercepted) return adapted;
    // As the first of all, it surrounds the interceptors of the team.
    this.config.getGlobalInterceptors().unshift(this.writes);
    return adapted.map((plan) => ({ ...plan, writes: undefined }));
  }

  /** @param parsesForms whether interceptors of the handler can parse a form */
  private adaptPlan(plan: RoutePlan, isIntercepted: boolean, parsesForms: boolean): RoutePlan {
    const isOfTeam = !isLatitudeController(plan.controller);
    if (!isOfTeam && !isIntercepted && !this.hasGlobalPipes()) return plan;
    if (isIntercepted) bindPlainResults(plan.handler);
    if (isOfTeam) bindParameterPipe(plan, parsesForms);
    const { input, isSingleInsert } = plan;
    const parameters = pipedParametersOf(plan);
    const team: TeamHandling = {
      ...(isOfTeam && { count: (context) => this.throttle.count(context, adapted) }),
      ...(isIntercepted && { serialize: serializeIntercepted }),
      problemsOf: (exception) => pipeProblems(exception, parameters),
    };
    const adapted: RoutePlan = {
      ...plan,
      team,
      input: input && { ...input, mayBeForm: parsesForms && input.body !== undefined },
      isSingleInsert: isSingleInsert && !isIntercepted,
    };
    return adapted;
  }

  /** Guards of `useGlobalGuards()` precede those with `APP_GUARD`. */
  private earlyGuards(): string[] {
    const guards = this.config.getGlobalGuards();
    const first = guards.findIndex((guard) => guard instanceof AccessGuard);
    return guards
      .slice(0, first)
      .map(
        (guard) =>
          `${guard.constructor.name} is a guard of useGlobalGuards(), which would run before authentication. Provide it with the token APP_GUARD.`,
      );
  }

  /** The interceptors for all routes. A request-scoped one has only its prototype. */
  private globalInterceptors(): readonly unknown[] {
    const ofRequests = this.config.getGlobalRequestInterceptors();
    return [
      ...this.config.getGlobalInterceptors(),
      ...ofRequests.map(({ instance }): unknown => instance),
    ];
  }

  private hasGlobalPipes(): boolean {
    const { config } = this;
    return config.getGlobalPipes().length + config.getGlobalRequestPipes().length > 0;
  }
}

/** The interceptors of a controller and its handler that are not those of Latitude. */
function interceptorsOf({ controller, handler }: RoutePlan): unknown[] {
  const own: readonly unknown[] = [writesOfPlan, handPlainResults];
  return enhancersOf('interceptors', controller, handler).filter((one) => !own.includes(one));
}
