import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import { CONNECTION_SETTINGS } from '../connection/data-source-options.js';
import { Lanes } from './lanes.js';

/** A statement that finds a few rows by an index, whosever they are. */
export interface Lookup {
  /** Under which connections keep it prepared. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

type Answer = (error: Error | null, result?: pg.QueryResult) => void;

const Query = pg.Query as unknown as new (
  lookup: Lookup,
  values: undefined,
  tell: Answer,
) => pg.Submittable;

/**
 * Look-ups that every request depends on, before its organization is known: they have connections of
 * their own, so that nothing a request does with its organization's records keeps them waiting.
 */
@Injectable()
export class SharedLookups implements OnApplicationShutdown {
  private readonly lanes: Lanes;

  constructor(@InjectDataSource() dataSource: DataSource, settings: Settings) {
    const { lookups } = planConnections(settings.databaseMaxConnections);
    this.lanes = new Lanes(dataSource, lookups, CONNECTION_SETTINGS);
  }

  /** @throws whatever the driver does */
  find<Row>(lookup: Lookup): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const tell: Answer = (error, result) => {
        if (error) reject(error);
        else resolve((result?.rows ?? []) as Row[]);
      };
      this.lanes.submit(Object.assign(new Query(lookup, undefined, tell), { fail: reject }));
    });
  }

  /** Behind everything that could still ask. */
  async onApplicationShutdown(): Promise<void> {
    await this.lanes.close();
  }
}
