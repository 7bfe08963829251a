import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { translateErrors } from '../connection/driver-error.js';
import { poolOf } from '../connection/driver-pool.js';
import { sendStatements } from '../connection/statement-pipeline.js';
import type { Statement } from './statement.js';
import { SET_TIMEOUTS } from './policies.js';
import { TimeBudget } from './time-budget.js';

/**
 * Writes of requests to tables that belong to no organization. They run as the database user, within the
 * time budget of a request, and on the connections of requests: background work uses those of the administration data
 * source, and may use all of them for seconds.
 */
@Injectable()
export class AdministrativeWrites {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly timeBudget: TimeBudget,
  ) {}

  /**
   * Runs statements in one transaction, in one round trip.
   * @returns the rows of the last statement
   * @throws ApiError `create_failed`
   */
  async run<Row>(...statements: readonly Statement[]): Promise<Row[]> {
    const deadline = this.timeBudget.startDeadline();
    const sending = poolOf(this.dataSource).use((client, limitTo) => {
      limitTo(deadline.connectionMs);
      const values = deadline.timeouts('long');
      const timeouts = { text: SET_TIMEOUTS, values, isSetting: true };
      return sendStatements<Row>(client, [timeouts, ...statements]);
    });
    return (await translateErrors(sending, 'create_failed')).at(-1) ?? [];
  }
}
