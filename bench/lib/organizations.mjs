import { v7 as uuidv7 } from 'uuid';
import {
  displayPrefix,
  generateKey,
  hashKey,
} from '../../dist/src/platform/access/api-key-format.js';

export const DEFAULT_LEADS = 100_000;

/** Half of all leads are in one organization. The size of the small ones is fixed. */
const SMALL_ORGANIZATIONS = 10;
const SMALL = 1_000;
const MEDIUM_ORGANIZATIONS = 9;
export const MAX_ORGANIZATIONS = 1 + MEDIUM_ORGANIZATIONS + SMALL_ORGANIZATIONS;

/** With fewer leads, the organizations of medium size would have too few. */
export const MIN_LEADS = 30_000;

const SCOPES = ['leads:read', 'leads:write', 'appointments:write', 'tasks:write'];

/**
 * @param total the number of leads, at least `MIN_LEADS`
 * @returns the sizes of twenty organizations, the largest first
 */
export function comparedSizes(total) {
  const large = Math.ceil(total / 2);
  const rest = total - large - SMALL_ORGANIZATIONS * SMALL;
  const parts = (MEDIUM_ORGANIZATIONS * (MEDIUM_ORGANIZATIONS + 1)) / 2;
  const medium = Array.from({ length: MEDIUM_ORGANIZATIONS }, (_, i) =>
    Math.floor((rest * (MEDIUM_ORGANIZATIONS - i)) / parts),
  );
  medium[0] += rest - medium.reduce((sum, size) => sum + size, 0);
  return [large, ...medium, ...Array(SMALL_ORGANIZATIONS).fill(SMALL)];
}

/** Creates organizations with a key each, by SQL: the command line would have to start forty times. */
export async function createOrganizations(client, sizes, scopes = SCOPES) {
  const organizations = [];
  for (const [index, size] of sizes.entries()) {
    const [id, key] = [uuidv7(), generateKey()];
    await client.query(`insert into organizations (id, name, phone_region) values ($1, $2, 'US')`, [
      id,
      `Organization ${index + 1}`,
    ]);
    await client.query(
      `insert into api_keys (id, organization_id, name, key_hash, key_start, scopes)
       values ($1, $2, 'benchmark', $3, $4, $5)`,
      [uuidv7(), id, hashKey(key), displayPrefix(key), scopes],
    );
    organizations.push({ id, key, size, small: size === SMALL });
  }
  return organizations;
}
