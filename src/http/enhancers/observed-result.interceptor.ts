import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { plainRecordOf } from '../../database/records/stored-record.js';
import { CursorPage, Page } from '../../listing/page.js';
import type { ApiRequest } from '../request/api-request.js';

/**
 * The innermost interceptor of a route with interceptors of a team. It passes a record to them as a plain
 * object, and a page as the object that clients receive. It keeps the return value of the handler, from which
 * the headers of the response are made.
 */
export const observedResult: NestInterceptor = {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { state } = context.switchToHttp().getRequest<ApiRequest>();
    return next.handle().pipe(
      map((value: unknown) => {
        const seen = isPage(value) ? value.toJSON() : plainRecordOf(value);
        state.handlerResult = { value, seen };
        return seen;
      }),
    );
  },
};

function isPage(value: unknown): value is Page<object> | CursorPage<object> {
  return value instanceof Page || value instanceof CursorPage;
}
