import { Injectable } from '@nestjs/common';
import { IS_VALID_GRANT, IS_VALID_KEY, SCOPES_OF_GRANT } from '../../auth/valid-keys.js';
import { Settings } from '../../../platform/config/settings.js';
import { SystemDatabase } from '../../../platform/data/gateway/system-database.js';
import type { SessionRecord } from './session.js';
import { lifetimeOf } from './session-lifetime.js';

export interface NewSession extends SessionRecord {
  /** The id of the earlier session that the client has named: it ends if it belongs to the same key. */
  readonly replaced_id: string | undefined;
}

/** A session that any instance can continue: its key and grant are valid. */
export interface StoredSession extends SessionRecord {
  /** The scopes of the key, or those of the grant that its key still has. */
  readonly scopes: readonly string[];
  /** The number of the newest stream of the session, on any instance; 0 before the first one. */
  readonly stream_number: number;
  /** The URIs of the subscribed records, as the client wrote them. */
  readonly subscriptions: readonly string[];
  readonly age_ms: number;
  /** When its end was last postponed. */
  readonly last_used_at: Date;
  /** The time of the database when the session was read. */
  readonly read_at: Date;
  /** The time until its end; not positive if it has ended. */
  readonly remaining_ms: number;
}

const VALID_SESSIONS = `mcp_sessions session join api_keys key on key.id = session.key_id
    and ${IS_VALID_KEY}
  left join oauth_grants grants on grants.id = session.grant_id
  where (session.grant_id is null or ${IS_VALID_GRANT})`;

const FIND = `
  select session.id, session.key_id, session.grant_id, grants.client_id, session.protocol_version, session.client_name,
    session.subscriptions, session.stream_number, session.last_used_at,
    case when session.grant_id is null then key.scopes else ${SCOPES_OF_GRANT} end as scopes,
    (extract(epoch from now() - session.created_at) * 1000)::float8 as age_ms, now() as read_at,
    (extract(epoch from session.expires_at - now()) * 1000)::float8 as remaining_ms
  from ${VALID_SESSIONS} and session.id = any($1::uuid[])`;

/** Instances open sessions one after another, so that two do not count the same free places. */
const LOCK = `select pg_advisory_xact_lock(hashtextextended('mcp_sessions', 0))`;

/**
 * Deletes sessions whose key or grant is not valid, and those that ended two hours ago. Not sooner: if the clock of the
 * database is set forward, all sessions seem to have ended, and an instance that has one in memory postpones its end.
 */
const DELETE_ENDED = `
  delete from mcp_sessions where id not in (
    select session.id from ${VALID_SESSIONS} and session.expires_at > now() - interval '2 hours')`;

/** `$1`: milliseconds until the end of a session. The transaction may have waited for locks. */
const NEW_END = `clock_timestamp() + make_interval(secs => $1 / 1000.0)`;

const DELETE_REPLACED = `
  delete from mcp_sessions session using json_to_recordset($1) as new (key_id uuid, grant_id uuid, replaced_id uuid)
  where session.id = new.replaced_id and session.key_id = new.key_id
    and session.grant_id is not distinct from new.grant_id`;

const IS_OPEN = 'expires_at > clock_timestamp()';

/**
 * The sessions that replace others come first, because those have made room for them. `$3`: the capacity, `$4`: that of one
 * key with its grants, null for no such limit.
 */
const INSERT = `
  insert into mcp_sessions (id, key_id, grant_id, protocol_version, client_name, expires_at)
  select id, key_id, grant_id, protocol_version, client_name, ${NEW_END}
  from (
    select *, row_number() over (partition by key_id order by replaced_id is null) as place_of_key
    from json_to_recordset($2) as new
      (id uuid, key_id uuid, grant_id uuid, protocol_version text, client_name text, replaced_id uuid)
  ) new
  where $4::int is null or place_of_key <= $4 - (
    select count(*) from mcp_sessions session where session.key_id = new.key_id and ${IS_OPEN})
  order by replaced_id is null
  limit greatest($3 - (select count(*) from mcp_sessions where ${IS_OPEN}), 0)
  returning id`;

/** Locks the rows in one order, so that instances that postpone ends at the same time wait for each other. */
const POSTPONE_END = `
  update mcp_sessions set last_used_at = clock_timestamp(), expires_at = ${NEW_END}
  where id in (select id from mcp_sessions where id = any($2::uuid[]) order by id for update)
  returning id`;

/** SQL of the sessions of /mcp (docs/contract/mcp.md#sessions). */
@Injectable()
export class SessionsRepository {
  constructor(
    private readonly database: SystemDatabase,
    private readonly settings: Settings,
  ) {}

  /**
   * Removes ended and replaced sessions and stores new ones, as far as the capacity of all instances and that of a key allow.
   * @returns the ids of the stored sessions
   * @throws ApiError `create_failed`
   */
  async open(sessions: readonly NewSession[]): Promise<ReadonlySet<string>> {
    const json = JSON.stringify(sessions);
    const { maxMs } = lifetimeOf(this.settings);
    const { mcpMaxSessions, mcpMaxSessionsPerKey = null } = this.settings;
    const stored = await this.database.write<{ id: string }>(
      { text: LOCK, values: [] },
      { text: DELETE_ENDED, values: [] },
      { text: DELETE_REPLACED, values: [json] },
      { text: INSERT, values: [maxMs, json, mcpMaxSessions, mcpMaxSessionsPerKey] },
    );
    return new Set(stored.map(({ id }) => id));
  }

  /**
   * Those of the sessions that are stored and whose keys and grants are valid.
   * @throws ApiError `query_failed`
   */
  find(ids: readonly string[]): Promise<StoredSession[]> {
    return this.database.read<StoredSession>(FIND, [ids]);
  }

  /**
   * Postpones the end of sessions that are used now.
   * @returns the ids of those that exist
   * @throws ApiError `create_failed`
   */
  async postponeEnds(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const values = [lifetimeOf(this.settings).maxMs, ids];
    const stored = await this.database.write<{ id: string }>({ text: POSTPONE_END, values });
    return new Set(stored.map(({ id }) => id));
  }

  /**
   * Adds or removes the subscription to a URI, which is compared without case.
   * @throws ApiError `create_failed`
   */
  async storeSubscription(id: string, uri: string, isSubscribed: boolean): Promise<void> {
    const text = `update mcp_sessions set subscriptions = array(
        select uri from unnest(subscriptions) uri where lower(uri) <> lower($2)
      ) || array(select $2::text where $3::boolean) where id = $1`;
    await this.database.write({ text, values: [id, uri, isSubscribed] });
  }

  /**
   * Returns the number of a new stream, which is higher than that of each earlier stream of the session.
   * @returns undefined for a session that does not exist
   * @throws ApiError `create_failed`
   */
  async nextStreamNumber(id: string): Promise<number | undefined> {
    const text =
      'update mcp_sessions set stream_number = stream_number + 1 where id = $1 returning stream_number';
    const [row] = await this.database.write<{ stream_number: number }>({ text, values: [id] });
    return row?.stream_number;
  }

  /**
   * Deletes the sessions of an organization that were opened by then.
   * @throws ApiError `create_failed`
   */
  async deleteAll(organization: string, openedBy: Date): Promise<void> {
    const text = `delete from mcp_sessions session using api_keys key
      where key.id = session.key_id and key.organization_id = $1 and session.created_at <= $2`;
    await this.database.write({ text, values: [organization, openedBy] });
  }

  /**
   * @returns whether the session existed
   * @throws ApiError `create_failed`
   */
  async delete(id: string): Promise<boolean> {
    const text = 'delete from mcp_sessions where id = $1 returning id';
    return (await this.database.write({ text, values: [id] })).length > 0;
  }
}
