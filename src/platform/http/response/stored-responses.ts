import { createHash } from 'node:crypto';
import type { IdempotentInsert } from '../../data/records/idempotent-insert.js';
import { uuidsIn } from '../../fields/kinds/uuid.js';
import type { IdempotentRequest } from './idempotent-request.js';

/** Where the responses to requests are stored: the table, and the column that says whose they are. */
export const OF_ORGANIZATIONS = { table: 'idempotency_keys', owner: 'organization_id' };
export const OF_OPERATORS = { table: 'operator_responses', owner: 'operator_id' };

/**
 * SQL of the stored response with a key, in the organization or of the operator `$1`. The order of the subquery makes PostgreSQL use
 * the primary key. Without it, PostgreSQL can read all responses of the organization, if it estimates that there
 * are few.
 */
export function storedResponseSql(
  key: string,
  route: string,
  { table, owner } = OF_ORGANIZATIONS,
): string {
  return `(select * from ${table}
      where ${owner} = $1 and (key, route) >= (${key}, ${route}) order by key, route limit 1) stored
    where stored.key = ${key} and stored.route = ${route}`;
}

/**
 * Those rows of `request` that no other transaction carries out, and that have no stored response. The snapshot can miss a
 * response that was committed just before the lock was acquired. Then `STORE` violates the unique key of the
 * responses, and the whole statement fails.
 */
const CLAIM = `claim as materialized (
    select id from request
    where pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::uuid, key, route), 0))
      and not exists (select from ${storedResponseSql('request.key', 'request.route')}))`;

const STORE = `response as (
    insert into idempotency_keys
      (organization_id, key, route, content_hash, status, location, etag, body, record_ids)
    select $1, key, route, decode(content_hash, 'hex'), 201, location,
      '"' || translate(encode(sha256(convert_to(json, 'UTF8')), 'base64'), '+/=', '-_') || '"',
      '{"data":' || json || '}', record_ids
    from written join request using (id))`;

const SQL = {
  columns: 'key text, route text, content_hash text, location text, record_ids uuid[]',
  claim: CLAIM,
  store: STORE,
};

/**
 * Makes the statement that inserts a record also claim the request and store its response: status 201 and the record.
 * @param locationOf the path of the created record
 */
export function idempotentInsertOf(
  { key, route, content }: IdempotentRequest,
  locationOf: (id: string) => string,
): IdempotentInsert {
  const valuesOf = (id: string, json: string) => {
    const location = locationOf(id);
    const record_ids = uuidsIn(`${route} ${location} ${json}`);
    return { key, route, content_hash: hashOf(content).toString('hex'), location, record_ids };
  };
  return { sql: SQL, valuesOf };
}

/** Hash of the content of a request. */
export function hashOf(content: string): Buffer {
  return createHash('sha256').update(content).digest();
}
