import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import type { TenantCall } from '../call.js';
import { translateErrors } from '../connection/driver-error.js';
import { destroyConnection } from '../connection/driver-pool.js';
import { type PipelineStatement, sendStatements } from '../connection/statement-pipeline.js';
import { BatchConnections } from './batch-connections.js';
import { Deadline } from './policies.js';
import type { Statement } from './statement.js';

const ROWS_PER_PAGE = 200;

/** When a caller may try again who was refused because too many snapshots are read. */
const RETRY_AFTER_SECONDS = 10;

const BEGIN = { text: 'begin transaction isolation level repeatable read, read only' };
const FETCH = { text: `fetch ${ROWS_PER_PAGE} from page` };
const COMMIT = { text: 'commit' };

/** Reads any number of rows of an organization in one snapshot, in constant memory. */
@Injectable()
export class SnapshotReader {
  private free = this.connections.plan.snapshots;

  constructor(private readonly connections: BatchConnections) {}

  /**
   * Reads the rows of a query in pages. It holds a connection until the last page, or until the caller ends it.
   * @param signal ends the read with an error
   * @throws ApiError `overloaded` if too many snapshots are read; `query_failed`
   */
  async *read<Row>(
    call: TenantCall,
    { text, values }: Statement,
    signal: AbortSignal,
  ): AsyncGenerator<Row[], void> {
    if (this.free === 0) {
      throw new ApiError('overloaded', {
        message: 'Too many exports are running. Try again when one has ended.',
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    this.free--;
    try {
      const client = await translateErrors(this.connections.requests.connect(), 'query_failed');
      const destroy = () => {
        destroyConnection(client);
      };
      signal.addEventListener('abort', destroy);
      try {
        signal.throwIfAborted();
        const send = async (...statements: PipelineStatement[]) => {
          const sending = sendStatements<Row>(client, statements);
          return (await translateErrors(sending, 'query_failed')).at(-1) ?? [];
        };
        const unlimited = new Deadline(Infinity);
        const settings = this.connections.settings.of(call.tenant.id, 'custom', unlimited, 'long');
        const declare = { text: `declare page no scroll cursor for ${text}`, values };
        let rows = await send(BEGIN, settings, declare, FETCH);
        while (rows.length > 0) {
          yield rows;
          rows = await send(FETCH);
        }
        await send(COMMIT);
      } finally {
        signal.removeEventListener('abort', destroy);
        // The pool closes a connection whose transaction has not ended.
        client.release();
      }
    } finally {
      this.free++;
    }
  }
}
