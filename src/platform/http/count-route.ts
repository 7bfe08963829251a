import { applyDecorators, Get, HttpStatus } from '@nestjs/common';
import type { Scope } from '../access/scopes.js';
import { type Counts, CountsMetaDto, ValueCountDto } from '../data/lists/count.dto.js';
import type { HandlerDecorator } from '../discovery/handler-decorator.js';
import { RequireScope } from './routes/access.js';
import { ApiRoute } from './routes/api-route.decorator.js';
import { WithMeta } from './routes/with-meta.js';

type CountsResponse = WithMeta<readonly ValueCountDto[], CountsMetaDto>;

/**
 * Declares the route `GET counts` of a controller (docs/contract/counts.md). Its handler returns `countsResponse()`.
 * @param records such as `leads`
 */
export function CountRoute(records: string, scope: Scope): HandlerDecorator<CountsResponse> {
  const route = ApiRoute({
    summary: `Count ${records}`,
    description: `How many ${records} there are of each value, from one moment.`,
    response: [ValueCountDto],
    meta: CountsMetaDto,
    errors: ['filter_too_broad'],
  }) as MethodDecorator;
  return applyDecorators(Get('counts'), RequireScope(scope), route);
}

export function countsResponse({ data, meta }: Counts): CountsResponse {
  return new WithMeta(data, meta, HttpStatus.OK);
}
