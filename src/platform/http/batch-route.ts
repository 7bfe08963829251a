import { applyDecorators, HttpCode, HttpStatus, Post } from '@nestjs/common';
import type { Scope } from '../access/scopes.js';
import { BatchMetaDto, type BatchOutcome, BatchResultDto } from '../data/batches/batch.dto.js';
import type { HandlerDecorator } from '../discovery/handler-decorator.js';
import type { ErrorCode } from '../errors/error-catalogue.js';
import { BatchLimit } from './guards/batch-limit.js';
import { RequireScope } from './routes/access.js';
import { ApiRoute } from './routes/api-route.decorator.js';
import { CheckBody } from './routes/handler-declarations.js';
import { WithMeta } from './routes/with-meta.js';

type BatchResponse = WithMeta<readonly BatchResultDto[], BatchMetaDto>;

/**
 * Declares the route `POST batch` of a controller (docs/contract/batches.md). Its handler returns `batchResponse()`.
 * @param records such as `leads`
 * @param errors of items, in addition to those of every batch
 */
export function BatchRoute(
  records: string,
  scope: Scope,
  errors: readonly ErrorCode[] = [],
): HandlerDecorator<BatchResponse> {
  const route = ApiRoute({
    summary: `Change several ${records}`,
    description: 'Every ten items begun count as one write. 207 means that an item failed.',
    response: [BatchResultDto],
    meta: BatchMetaDto,
    statuses: [HttpStatus.MULTI_STATUS],
    errors: ['not_found', 'duplicate', 'precondition_failed', ...errors],
  }) as MethodDecorator;
  const declarations = [HttpCode(HttpStatus.OK), RequireScope(scope), CheckBody(BatchLimit)];
  return applyDecorators(Post('batch'), ...declarations, route);
}

/** The response to a batch: 207 if an item failed. */
export function batchResponse({ results, meta }: BatchOutcome): BatchResponse {
  return new WithMeta(results, meta, meta.failed > 0 ? HttpStatus.MULTI_STATUS : HttpStatus.OK);
}
