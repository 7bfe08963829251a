import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { ADMINISTRATION } from '../connection/administration.js';
import { partitionTables } from './partition-tables.js';

/** Spreads the tables of organizations over hash partitions. */
@Injectable()
export class PartitionsService {
  constructor(@InjectDataSource(ADMINISTRATION) private readonly dataSource: DataSource) {}

  /** @returns the names of the tables that were not partitioned */
  partition(partitions: number): Promise<string[]> {
    return partitionTables(this.dataSource, partitions);
  }
}
