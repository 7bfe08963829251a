import { Injectable } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { enhancersOf } from '../discovery/nest-internals.js';
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
   * @throws Error whose message has one line for each route whose responses would be cached for all organizations
   */
  adapt(plans: readonly RoutePlan[]): readonly RoutePlan[] {
    const global = this.globalInterceptors();
    const faults = plans.flatMap(
      (plan) => faultOfCache(plan, [...global, ...interceptorsOf(plan)]) ?? [],
    );
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const adapted = plans.map((plan) => this.adaptPlan(plan));
    const isIntercepted = adapted.some(({ writes, team }) => writes && team?.serialize);
    if (!isIntercepted) return adapted;
    // As the first of all, it surrounds the interceptors of the team.
    this.config.getGlobalInterceptors().unshift(this.writes);
    return adapted.map((plan) => ({ ...plan, writes: undefined }));
  }

  private adaptPlan(plan: RoutePlan): RoutePlan {
    // Interceptors of the handler can parse a form.
    const parsesForms = interceptorsOf(plan).length > 0;
    const isIntercepted = parsesForms || this.globalInterceptors().length > 0;
    const isOfTeam = !isLatitudeController(plan.controller);
    if (!isOfTeam && !isIntercepted) return plan;
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

  /** The interceptors for all routes. A request-scoped one has only its prototype. */
  private globalInterceptors(): readonly unknown[] {
    const ofRequests = this.config.getGlobalRequestInterceptors();
    return [
      ...this.config.getGlobalInterceptors(),
      ...ofRequests.map(({ instance }): unknown => instance),
    ];
  }
}

/** The interceptors of a controller and its handler that are not those of Latitude. */
function interceptorsOf({ controller, handler }: RoutePlan): unknown[] {
  const own: readonly unknown[] = [writesOfPlan, handPlainResults];
  return enhancersOf('interceptors', controller, handler).filter((one) => !own.includes(one));
}
