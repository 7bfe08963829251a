import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ACCESS, type Access, isRestRoute } from '../../auth/access.js';
import { Settings } from '../../config/settings.js';
import { type MaybePromise, mapMaybePromise } from '../../rate-limit/maybe-promise.js';
import type { ApiRequest } from './api-request.js';
import { type InputTypes, inputTypesOf, bindInput } from './request-reader.js';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/**
 * The last guard. It reads the query and the body, validates them and sets them on the request as
 * DTOs. It is a guard because interceptors make each call of a handler slower.
 */
@Injectable()
export class InputGuard implements CanActivate {
  /** The DTO classes of each handler; undefined for handlers that are not part of the REST API. */
  private readonly inputs = new Map<Handler, InputTypes | undefined>();

  constructor(
    private readonly settings: Settings,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const types = this.typesOf(context);
    if (!types) return true;
    const request = context.switchToHttp().getRequest<ApiRequest>();
    request.state.hasEnvelope = true;
    return mapMaybePromise(bindInput(request, types, this.settings.bodyLimitBytes), () => true);
  }

  private typesOf(context: ExecutionContext): InputTypes | undefined {
    const handler = context.getHandler();
    if (!this.inputs.has(handler)) {
      const access = this.reflector.get<Access | undefined>(ACCESS, handler);
      const types = isRestRoute(access)
        ? inputTypesOf(context.getClass(), handler.name)
        : undefined;
      this.inputs.set(handler, types);
    }
    return this.inputs.get(handler);
  }
}
