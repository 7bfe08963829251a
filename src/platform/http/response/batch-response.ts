import { HttpStatus } from '@nestjs/common';
import type { BatchMetaDto, BatchOutcome, BatchResultDto } from '../../data/batches/batch.dto.js';
import { WithMeta } from '../routes/with-meta.js';

/** The response to a batch: 207 if an item failed. */
export function batchResponse({
  results,
  meta,
}: BatchOutcome): WithMeta<readonly BatchResultDto[], BatchMetaDto> {
  return new WithMeta(results, meta, meta.failed > 0 ? HttpStatus.MULTI_STATUS : HttpStatus.OK);
}
