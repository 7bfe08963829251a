import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import { CONNECTION_SETTINGS } from '../connection/data-source-options.js';
import { Query, type QueryCallback } from '../connection/pg-internals.js';
import { Lanes } from './lanes.js';

/** A statement that finds a few rows of any organization by an index. */
export interface Lookup {
  /** The name of the prepared statement. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Lookups that every request needs before its organization is known. They have connections of their
 * own, so that they never wait for statements on the records of organizations.
 */
@Injectable()
export class SharedLookups implements OnApplicationShutdown {
  private readonly lanes: Lanes;

  constructor(@InjectDataSource() dataSource: DataSource, settings: Settings) {
    const { lookups } = planConnections(settings.databaseMaxConnections);
    this.lanes = new Lanes(dataSource, lookups, CONNECTION_SETTINGS);
  }

  /** @throws any error of the driver */
  find<Row>(lookup: Lookup): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const callback: QueryCallback = (error, result) => {
        if (error) reject(error);
        else resolve((result?.rows ?? []) as Row[]);
      };
      const query = new Query(lookup, undefined, callback) as unknown as pg.Submittable;
      this.lanes.submit(Object.assign(query, { fail: reject }));
    });
  }

  /** Runs after everything that could still send a lookup. */
  async onApplicationShutdown(): Promise<void> {
    await this.lanes.close();
  }
}
