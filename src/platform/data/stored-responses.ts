import { createHash } from 'node:crypto';
import { uuidsIn } from '../fields/kinds/uuid.js';

/** A request with an `Idempotency-Key`, which is carried out once. */
export interface IdempotentRequest {
  readonly key: string;
  /** Method and path. A key is valid for one route. */
  readonly route: string;
  /** The rest of the request in a canonical form. */
  readonly content: string;
}

/** The response to a request that inserts one record: status 201 and the record. */
export interface CreatedResponse extends IdempotentRequest {
  /** The path of the created record. */
  locationOf(id: string): string;
}

/** The columns of `request` that `CLAIM_SQL` and `STORE_SQL` read, in addition to the `id` of the record. */
export const RESPONSE_COLUMNS =
  'key text, route text, content_hash text, location text, record_ids uuid[]';

/** The values of these columns for a record to insert. */
export function responseValues(response: CreatedResponse, id: string, json: string): object {
  const { key, route, content } = response;
  const location = response.locationOf(id);
  const record_ids = uuidsIn(`${route} ${location} ${json}`);
  return { key, route, content_hash: hashOf(content).toString('hex'), location, record_ids };
}

/** Where the responses to requests are stored: the table, and the column that says whose they are. */
export const OF_ORGANIZATIONS = { table: 'idempotency_keys', owner: 'organization_id' };
export const OF_OPERATORS = { table: 'operator_responses', owner: 'operator_id' };

const RESPONSE_FIELDS =
  'key, route, content_hash, status, location, etag, body, scopes, created_at';

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
  return `(select ${RESPONSE_FIELDS} from ${table}
      where ${owner} = $1 and (key, route) >= (${key}, ${route}) order by key, route limit 1) stored
    where stored.key = ${key} and stored.route = ${route}`;
}

/**
 * CTE `claim`: those rows of `request` that no other transaction carries out, and that have no stored
 * response. The snapshot can miss a response that was committed just before the lock was acquired. Then
 * `STORE_SQL` violates the unique key of the responses, and the whole statement fails.
 */
export const CLAIM_SQL = `claim as materialized (
    select id from request
    where pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::uuid, key, route), 0))
      and not exists (select from ${storedResponseSql('request.key', 'request.route')}))`;

/** CTE `response`: stores the responses to the requests whose records are in `written`. */
export const STORE_SQL = `response as (
    insert into idempotency_keys
      (organization_id, key, route, content_hash, status, location, etag, body, record_ids)
    select $1, key, route, decode(content_hash, 'hex'), 201, location,
      '"' || translate(encode(sha256(convert_to(json, 'UTF8')), 'base64'), '+/=', '-_') || '"',
      '{"data":' || json || '}', record_ids
    from written join request using (id))`;

/** Nothing was inserted, for example because another request with the same key is or was carried out. */
export class ResponseExists extends Error {}

/** Hash of the content of a request. */
export function hashOf(content: string): Buffer {
  return createHash('sha256').update(content).digest();
}
