import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { ADMINISTRATION } from '../connection/administration.js';
import { translateDriverError } from '../connection/driver-error.js';
import type { Statement } from './statement.js';
import { SET_TIMEOUTS } from './policies.js';
import { TimeBudget } from './time-budget.js';

/**
 * Writes of requests to tables that belong to no organization. They run as the database user, within the
 * time budget of a request.
 */
@Injectable()
export class AdministrativeWrites {
  constructor(
    @InjectDataSource(ADMINISTRATION) private readonly dataSource: DataSource,
    private readonly timeBudget: TimeBudget,
  ) {}

  /**
   * Runs statements in one transaction.
   * @returns the rows of the last statement
   * @throws ApiError `create_failed`
   */
  async run<Row>(...statements: readonly Statement[]): Promise<Row[]> {
    try {
      return await this.runTransaction<Row>(statements);
    } catch (error) {
      throw translateDriverError(error, 'create_failed');
    }
  }

  private async runTransaction<Row>(statements: readonly Statement[]): Promise<Row[]> {
    const deadline = this.timeBudget.startDeadline();
    const runner = this.dataSource.createQueryRunner();
    let cancelTimer = (): void => undefined;
    try {
      const client = (await runner.connect()) as pg.PoolClient;
      cancelTimer = deadline.destroyWhenExceeded(client);
      await runner.startTransaction();
      await client.query(SET_TIMEOUTS, [...deadline.timeouts('long')]);
      let rows: unknown[] = [];
      for (const { text, values } of statements) {
        ({ rows } = await client.query({ text, values: [...values] }));
      }
      await runner.commitTransaction();
      return rows as Row[];
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      cancelTimer();
      await runner.release();
    }
  }
}
