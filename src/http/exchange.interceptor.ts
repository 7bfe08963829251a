import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { ACCESS, type Access, isRest } from '../auth/access.js';
import { Settings } from '../config/settings.js';
import { Page } from '../listing/page.js';
import type { ApiRequest } from '../tenancy/actor.js';
import { type InputTypes, inputTypesOf, readRequest } from './request-reader.js';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/**
 * Stands around every handler: behind the guards it reads and checks query and body, and what the
 * handler returns it puts into the envelope (decisions 1).
 */
@Injectable()
export class ExchangeInterceptor implements NestInterceptor {
  private readonly inputTypes = new Map<Handler, InputTypes>();

  constructor(
    private readonly settings: Settings,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const handler = context.getHandler();
    const access = this.reflector.get<Access>(ACCESS, handler);
    if (!isRest(access)) return next.handle();
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    await readRequest(request, this.typesOf(context), this.settings.bodyLimitBytes);
    return next.handle().pipe(map((result) => toEnvelope(result, request, response)));
  }

  private typesOf(context: ExecutionContext): InputTypes {
    const handler = context.getHandler();
    let types = this.inputTypes.get(handler);
    if (!types) {
      types = inputTypesOf(context.getClass(), handler.name);
      this.inputTypes.set(handler, types);
    }
    return types;
  }
}

function toEnvelope(result: unknown, request: ApiRequest, response: Response): unknown {
  if (result instanceof Page) return result;
  if (response.statusCode === 201 && hasId(result)) {
    response.setHeader('Location', `${request.path}/${result.id}`);
  }
  return { data: result };
}

function hasId(result: unknown): result is { id: string } {
  return typeof result === 'object' && result !== null && 'id' in result;
}
