import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import type { TenantCall } from '../call.js';
import { planConnections } from '../connection/connection-plan.js';
import { translateErrors } from '../connection/driver-error.js';
import { poolOf } from '../connection/driver-pool.js';
import { destroyConnection } from '../connection/resilient-client.js';
import { SessionContext } from '../connection/session-context.js';
import { type PipelineStatement, sendStatements } from '../connection/statement-pipeline.js';
import { Deadline } from './policies.js';
import type { Statement } from './statement.js';
import { TenantSettings } from './tenant-settings.js';

const ROWS_PER_PAGE = 500;

/** When a caller may try again who was refused because too many snapshots are read. */
const RETRY_AFTER_SECONDS = 10;

const BEGIN = { text: 'begin transaction isolation level repeatable read, read only' };
const FETCH = { text: `fetch ${ROWS_PER_PAGE} from page` };
const COMMIT = { text: 'commit' };

/** Reads any number of rows of an organization in one snapshot, in constant memory. */
@Injectable()
export class SnapshotReader {
  private readonly settings: TenantSettings;
  private free: number;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    session: SessionContext,
    { databaseMaxConnections }: Settings,
  ) {
    this.settings = new TenantSettings(session);
    this.free = planConnections(databaseMaxConnections).snapshots;
  }

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
    if (this.free === 0) throw tooMany();
    this.free--;
    try {
      const client = await translateErrors(poolOf(this.dataSource).connect(), 'query_failed');
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
        const settings = this.settings.of(call.tenant.id, 'custom', new Deadline(Infinity), 'long');
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

function tooMany(): ApiError {
  return new ApiError('overloaded', {
    message: 'Too many exports are running. Try again when one has ended.',
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  });
}
