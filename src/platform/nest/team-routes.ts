import { Injectable } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { enhancersOf } from '../discovery/nest-internals.js';
import { WriteInterceptor, writesOfPlan } from '../http/response/write.interceptor.js';
import { isLatitudeController } from '../http/routes/api-controller.decorator.js';
import type { RoutePlan, TeamHandling } from '../http/routes/route-plan.js';
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

  /** Must be called before Nest registers the routes, with all global enhancers known. */
  adapt(plans: readonly RoutePlan[]): readonly RoutePlan[] {
    const adapted = plans.map((plan) => this.adaptPlan(plan));
    const isIntercepted = adapted.some(({ writes, team }) => writes && team?.serialize);
    if (!isIntercepted) return adapted;
    // As the first of all, it surrounds the interceptors of the team.
    this.config.getGlobalInterceptors().unshift(this.writes);
    return adapted.map((plan) => ({ ...plan, writes: undefined }));
  }

  private adaptPlan(plan: RoutePlan): RoutePlan {
    const { config } = this;
    // Interceptors of the handler can parse a form.
    const parsesForms = hasInterceptors(plan);
    const isIntercepted =
      parsesForms ||
      config.getGlobalInterceptors().length + config.getGlobalRequestInterceptors().length > 0;
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
}

/** Whether a controller or its handler has interceptors that are not those of Latitude. */
function hasInterceptors({ controller, handler }: RoutePlan): boolean {
  const own: readonly unknown[] = [writesOfPlan, handPlainResults];
  return enhancersOf('interceptors', controller, handler).some((one) => !own.includes(one));
}
