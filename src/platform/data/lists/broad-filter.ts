import { ApiError } from '../../errors/api-error.js';
import { ScanTimeout } from '../connection/driver-error.js';
import type { Statement } from '../gateway/statement.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';
import type { Conditions } from './conditions.js';

/**
 * Reads the records that conditions select.
 * @throws ApiError `query_failed`; of a broad filter `filter_too_broad` if it takes too long, `overloaded` if too many others
 *   run
 */
export function readSelected<Row>(
  database: TenantDatabase,
  conditions: Conditions,
  statement: Statement,
): Promise<Row[]> {
  if (!conditions.isBroad) return database.read<Row>(conditions.call, statement);
  return scanSelected<Row>(database, conditions, statement);
}

/** Like `readSelected`, for a statement that reads every record that conditions select, whatever they are. */
export async function scanSelected<Row>(
  database: TenantDatabase,
  conditions: Conditions,
  statement: Statement,
): Promise<Row[]> {
  try {
    return await database.scan<Row>(conditions.call, statement);
  } catch (error) {
    if (error instanceof ScanTimeout) throw filterTooBroad(conditions, error);
    throw error;
  }
}

function filterTooBroad({ unservedConditions: details }: Conditions, cause: ScanTimeout): ApiError {
  const help = 'Add a condition that an index serves, such as a window of created_at.';
  if (details.length === 0) {
    return new ApiError('filter_too_broad', {
      message: `The filter takes too long, because it selects too many records. ${help}`,
      details: [{ field: 'filter', message: 'selects too many records' }],
      cause,
    });
  }
  const paths = details.map(({ field }) => field).join(', ');
  return new ApiError('filter_too_broad', {
    message: `The filter takes too long, because no index serves ${paths}. ${help}`,
    details,
    cause,
  });
}
