import type { DataSource, EntityManager } from 'typeorm';
import { WORKER_SETTING } from '../tenant-role/tenant-role.js';

/** Row-level security shows the rows of all organizations in a transaction with this setting. */
const AS_WORKER = `set local ${WORKER_SETTING} = 'on'`;

/** Runs statements on jobs and events of all organizations in one transaction, as the database user. */
export function asWorker<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return dataSource.transaction(async (manager) => {
    await manager.query(AS_WORKER);
    return work(manager);
  });
}
