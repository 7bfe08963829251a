import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { v7 as uuidv7 } from 'uuid';
import { writeAuditLine } from '../../config/logger.js';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import type { Actor, InTransaction, TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { AUDIT_RECORDS, type AuditActorKind, type AuditType } from './audit-types.js';

const COLUMNS = 'id, type, at, actor, address, record, key_id, record_id';

/** What a proxy forwards as an address may be any text. */
const MAX_ADDRESS_LENGTH = 100;

/** Who has acted, and in which organization, or for which operator. */
export interface AuditOrigin extends Pick<TenantCall, 'tenant' | 'requestId' | 'address'> {
  readonly actor?: Pick<Actor, 'key'> & Partial<Pick<Actor, 'channel'>>;
}

/** Entries that are not written yet, for a statement that writes them with their change. */
export interface PreparedEntries {
  /** The value of the parameter of `insertAuditEntries`. */
  readonly json: string;
  /** Writes the lines of `AUDIT_LOG`, after the commit. */
  readonly publish: () => void;
}

/** What was done, and to which record. An export has no id. */
export type AuditedAct = readonly [type: AuditType, recordId: string | null];

/** The record of an entry. */
interface AuditedRecord {
  readonly type: string;
  readonly id: string | null;
  readonly organization_id?: string;
}

/**
 * SQL that inserts entries, in the statement of their change.
 * @param organization the parameter with their organization or operator, such as `$1`
 * @param entries the parameter with their JSON, such as `$2`
 * @param condition SQL: whether the change was made
 */
export function insertAuditEntries(
  organization: string,
  entries: string,
  condition = 'true',
): string {
  return `insert into audit_entries (organization_id, ${COLUMNS}) select ${organization}, ${COLUMNS}
    from json_populate_recordset(null::audit_entries, ${entries}::json) where ${condition}`;
}

/**
 * Writes the audit log (docs/contract/audit.md): an entry for each change of a kind in `AUDIT_RECORDS`, in the transaction
 * of the change, and for some reads. Services write their entries; `modules/audit` reads and removes them.
 */
@Injectable()
export class AuditLog {
  constructor(
    private readonly database: TenantDatabase,
    private readonly settings: Settings,
    private readonly host: HttpAdapterHost,
  ) {}

  /**
   * Writes entries in the transaction of their change. What an operator does in an organization is also an entry of the
   * operator.
   * @throws ApiError `create_failed`
   */
  async add(call: InTransaction, ...acts: readonly AuditedAct[]): Promise<void> {
    if (acts.length === 0) return;
    const { tenant, transaction, actor } = call;
    const text = insertAuditEntries('$1', '$2');
    const { json, publish } = this.prepare(call, acts);
    await transaction.query({ text, values: [tenant.id, json] });
    const operatorId = actor?.key.operatorId;
    if (operatorId !== undefined && operatorId !== tenant.id) {
      const copies = this.prepare({ ...call, tenant: { id: operatorId } }, acts, tenant.id);
      await transaction.of(operatorId).query({ text, values: [operatorId, copies.json] });
    }
    await this.database.afterCommit(call, publish);
  }

  /**
   * Writes the entry of a read. The caller refuses the read if it fails.
   * @throws ApiError `query_failed`, as of every read that fails in the database; `overloaded`
   */
  async addRead(call: TenantCall, act: AuditedAct): Promise<void> {
    const write = this.database.transaction(call, (inner) => this.add(inner, act));
    await write.catch((error: unknown) => {
      const isFailure = error instanceof ApiError && error.code === 'create_failed';
      throw isFailure ? new ApiError('query_failed', { cause: error }) : error;
    });
  }

  /**
   * The entries of a change that is made outside a transaction of its organization.
   * @param organizationId in entries of an operator: the organization that they are about
   */
  prepare(
    origin: AuditOrigin,
    acts: readonly AuditedAct[],
    organizationId?: string,
  ): PreparedEntries {
    const kind = this.kindOf(origin);
    const about = organizationId === undefined ? {} : { organization_id: organizationId };
    const entries = acts.map(([type, id]) =>
      entryOf(origin, kind, type, {
        type: AUDIT_RECORDS[type],
        id: id?.toLowerCase() ?? null,
        ...about,
      }),
    );
    const publish = () => {
      if (!this.settings.auditLog) return;
      for (const { key_id: _key, record_id: _record, ...entry } of entries) {
        writeAuditLine(entry, this.isCommand);
      }
    };
    return { json: JSON.stringify(entries), publish };
  }

  /** A command has no HTTP adapter. */
  private get isCommand(): boolean {
    return !(this.host as Partial<HttpAdapterHost>).httpAdapter;
  }

  private kindOf({ actor, requestId }: AuditOrigin): AuditActorKind {
    if (requestId === undefined) return this.isCommand ? 'command' : 'service';
    if (actor?.key.operatorId !== undefined) return 'operator';
    return actor?.key.subject === undefined ? 'key' : 'token';
  }
}

function entryOf(
  { tenant, actor, requestId, address }: AuditOrigin,
  kind: AuditActorKind,
  type: AuditType,
  record: AuditedRecord,
) {
  const key = requestId === undefined ? undefined : actor?.key;
  const key_id = key?.id ?? null;
  return {
    organization_id: tenant.id,
    id: uuidv7(),
    type,
    at: new Date(),
    actor: {
      kind,
      key_id,
      key_name: key?.name ?? null,
      channel: (key && actor?.channel) ?? null,
      request_id: requestId ?? null,
      grant_id: key?.grant?.id ?? null,
      client_id: key?.grant?.clientId ?? null,
    },
    address: address?.slice(0, MAX_ADDRESS_LENGTH) ?? null,
    record,
    key_id,
    record_id: record.id,
  };
}
