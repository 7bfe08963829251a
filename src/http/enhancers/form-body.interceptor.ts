import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { from, mergeMap, type Observable } from 'rxjs';
import { bindForm } from '../request/bind-input.js';
import type { ApiRequest } from '../request/api-request.js';

/**
 * The innermost interceptor of a route with interceptors of a team. It reads the fields of a form, which an
 * interceptor such as `FileInterceptor` has parsed, into the `@Body()` of the handler.
 */
export const formBody: NestInterceptor = {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const { formPlan } = request.state;
    if (!formPlan) return next.handle();
    return from(bindForm(request, formPlan)).pipe(mergeMap(() => next.handle()));
  },
};
