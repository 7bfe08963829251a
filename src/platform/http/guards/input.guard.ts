import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ApplicationConfig, ModuleRef, Reflector } from '@nestjs/core';
import { ACCESS, type Access, isRestRoute } from '../access.js';
import { Settings } from '../../config/settings.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import { teamInterceptorsOf } from '../response/declared-interceptors.js';
import { declaredPipesOf } from '../../discovery/nest-internals.js';
import type { ApiRequest } from '../request/api-request.js';
import { WebhookReceiver } from '../webhooks/webhook-receiver.js';
import { bindInput } from '../request/bind-input.js';
import { BODY_CHECK, type BodyCheck } from '../request/check-body.decorator.js';
import { isMultipartForm } from '../request/content-type.js';
import { takesNoBody } from '../request/no-body.decorator.js';
import { type InputPlan, planInputs } from '../request/input-plan.js';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/** How a handler is called. */
interface Route {
  /** Whether it is part of the REST API, whose routes refuse inputs that they do not declare. */
  readonly isRest: boolean;
  /** Undefined if the handler reads the request itself. */
  readonly plan: InputPlan | undefined;
  /** Whether the method or the controller has interceptors of its own, which can parse forms with files. */
  readonly parsesForms: boolean;
  readonly check?: BodyCheck;
  readonly takesNoBody: boolean;
}

/**
 * The last guard. It reads the query, the body and the path, validates them and sets them on the
 * request. It is a guard because interceptors make each call of a handler slower.
 */
@Injectable()
export class InputGuard implements CanActivate {
  private readonly routes = new Map<Handler, Route | 'webhook'>();

  constructor(
    private readonly settings: Settings,
    private readonly reflector: Reflector,
    private readonly webhooks: WebhookReceiver,
    private readonly moduleRef: ModuleRef,
    private readonly config: ApplicationConfig,
  ) {}

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const route = this.routeOf(context.getClass(), context.getHandler());
    const request = context.switchToHttp().getRequest<ApiRequest>();
    if (route === 'webhook') {
      return this.webhooks.receive(request, context.getHandler()).then(() => true);
    }
    const { isRest, plan, check } = route;
    if (!plan) return true;
    request.state.hasEnvelope = isRest;
    request.state.pipedParameters = plan.pipedParameters;
    const { bodyLimitBytes: bodyLimit } = this.settings;
    const options = { bodyLimit, isStrict: isRest, takesNoBody: route.takesNoBody };
    if (route.parsesForms && plan.body && isMultipartForm(request.headers['content-type'])) {
      request.state.formPlan = plan.body;
      const others = { ...plan, hasOnlyFields: false, body: undefined };
      return mapMaybePromise(bindInput(request, others, options), () => true);
    }
    return mapMaybePromise(bindInput(request, plan, options), () => {
      if (request.state.call) check?.assertAllowed(request.state.call, request.body as object);
      return true;
    });
  }

  /** @throws Error with a predicate that follows the name of the route, if its input cannot be read */
  assertReadable(controller: Type<unknown>, handler: Handler): void {
    if (this.routeOf(controller, handler) === 'webhook') this.webhooks.verifierOf(handler);
  }

  private routeOf(controller: Type<unknown>, handler: Handler): Route | 'webhook' {
    const known = this.routes.get(handler);
    if (known) return known;
    const access = this.reflector.get<Access | undefined>(ACCESS, handler);
    const isWebhook = access === 'webhook';
    const route = isWebhook ? access : this.planRoute(controller, handler, isRestRoute(access));
    this.routes.set(handler, route);
    return route;
  }

  private planRoute(controller: Type<unknown>, handler: Handler, isRest: boolean): Route {
    const pipes = [
      ...declaredPipesOf(controller, handler),
      ...this.config.getGlobalPipes(),
      ...this.config.getGlobalRequestPipes().map(({ instance }): unknown => instance),
    ];
    const plan = planInputs(controller, handler.name, pipes);
    const check = this.reflector.get<Type<BodyCheck> | undefined>(BODY_CHECK, handler);
    return {
      isRest,
      plan: isRest || plan.declaresInput ? plan : undefined,
      parsesForms: teamInterceptorsOf(controller, handler).length > 0,
      takesNoBody: takesNoBody(handler),
      check: check && this.moduleRef.get(check, { strict: false }),
    };
  }
}
