import type { Deadline } from './gateway/policies.js';
import type { Transaction } from './gateway/transaction.js';
import type { IdempotentInsert } from './records/idempotent-insert.js';

/** The rate limits of a key, in requests per minute. */
export interface KeyLimits {
  readonly reads: number;
  readonly writes: number;
}

/** Whether tools of /mcp that delete, cancel or merge records ask the user first (docs/contract/mcp.md#confirmations). */
export const CONFIRMATIONS = ['ask', 'never'] as const;
export type Confirmations = (typeof CONFIRMATIONS)[number];

/** Who calls: a key, a client with a grant of a key, a token of another issuer, a job or a command. */
export interface Actor {
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly expiresAt: Date | null;
    /** The rate limits that an API key has of its own. */
    readonly limits?: Partial<KeyLimits>;
    /** The user that the key was created for, if any. */
    readonly userId: string | null;
    /**
     * The operator whose key it is. The caller has no organization: that of the call has the id of the operator, and so
     * no records.
     */
    readonly operatorId?: string;
    /** The subject of a token of another issuer. The caller has no API key, and `id` is derived from it. */
    readonly subject?: string;
    /** What a person has granted to a client of /mcp with this key (docs/contract/oauth.md#grants). */
    readonly grant?: {
      readonly id: string;
      readonly clientId: string;
      readonly clientName: string;
    };
  };
  readonly scopes: ReadonlySet<string>;
  /** The rate limits that a `RateLimitPolicy` gives the key, in place of its own. */
  readonly limits?: KeyLimits;
  /** `api` for REST, `ai` for /mcp, `import` for the job of an import. */
  readonly channel: 'api' | 'ai' | 'import';
  /** Whether tools of /mcp ask the user before they delete, cancel or merge. */
  readonly asksForConfirmation?: true;
  /** Whether the credential is an access token, which is valid at /mcp only. */
  readonly isMcpOnly?: true;
}

/** What becomes of keys of custom fields that no definition has. */
export const UNKNOWN_FIELDS = ['allow', 'refuse'] as const;
export type UnknownFields = (typeof UNKNOWN_FIELDS)[number];

/** The organization whose records are read and written. */
export interface Tenant {
  readonly id: string;
  readonly name: string;
  /** Region of phone numbers without a country code, ISO 3166-1 alpha-2. */
  readonly phoneRegion: string;
  /** The zone of its days, a name of the IANA database. */
  readonly timeZone: string;
  /** Whether requests may set keys of custom fields that no definition has. */
  readonly unknownFields?: UnknownFields;
  /** Grows with each change of the definitions of custom fields. 0: there has never been one. */
  readonly definitionsVersion?: number;
}

/**
 * How a repository is called. Maintenance, which works for no caller, has only the id of the organization:
 * `{ tenant: { id } }`.
 */
export interface TenantCall {
  readonly tenant: Pick<Tenant, 'id'>;
  readonly actor?: Actor;
  /** The request that changes records. Their events contain it, with the key. Undefined for jobs and commands. */
  readonly requestId?: string;
  /** The address of its client, for the audit log. */
  readonly address?: string | undefined;
  /** The trace that its events, jobs and deliveries belong to, as in the header `traceparent`. */
  readonly traceparent?: string;
  /** The transaction of all reads and writes. Without one, each runs in its own. */
  readonly transaction?: Transaction;
  /** Makes the next insert idempotent. */
  readonly once?: IdempotentInsert;
  /** What a replay of the response to this request needs. Services add to it. */
  readonly replay?: ReplayNeeds;
  /** The condition that a record must meet before it is changed or deleted. */
  readonly precondition?: Precondition;
  /** When the reads and writes must end. Without it, each has the time of one operation. */
  readonly deadline?: Deadline;
  /** Whether the operation has its turn (`TenantDatabase.inTurn`). It then waits for no other operation of this instance. */
  readonly hasTurn?: boolean;
}

/** What a later caller needs, to whom the stored response to a request is sent. */
export class ReplayNeeds {
  private readonly needed = new Set<string>();
  private readonly fields = new Map<string, string>();

  /** The request needed these scopes, in addition to those of its route. */
  need(scopes: readonly string[]): void {
    for (const scope of scopes) this.needed.add(scope);
  }

  /** The response has this field only because the caller has the scope. */
  needFor(field: string, scope: string): void {
    this.fields.set(field, scope);
  }

  /** As it is stored; null if nothing is needed. */
  toStored(): ScopesOfResponse | null {
    if (this.needed.size + this.fields.size === 0) return null;
    return { needed: [...this.needed], fields: Object.fromEntries(this.fields) };
  }
}

/** The scopes that a replay needs, and those that it needs for single fields of the response, by their names. */
export interface ScopesOfResponse {
  readonly needed: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
}

/** Who calls, for which organization, and how. The first argument of services. */
export interface Call extends TenantCall {
  readonly actor: Actor;
  readonly tenant: Tenant;
}

/** A call inside a transaction. */
export type InTransaction<C extends TenantCall = TenantCall> = C & {
  readonly transaction: Transaction;
};

/** Decides whether a stored record is the version that the caller wants to change. */
export interface Precondition {
  /** The id of the record that it is about. Default: each record that the call changes. */
  readonly recordId?: string;
  isMetBy(version: string): boolean;
  /** The message of the error if it is not met. Default: that of `precondition_failed`. */
  readonly failure?: string;
}

/** The organization of a row, as joins select it. */
export interface OrganizationColumns {
  readonly organization_id: string;
  readonly organization_name: string;
  readonly phone_region: string;
  readonly time_zone: string;
  readonly unknown_fields: UnknownFields;
  readonly definitions_version: number;
}

/** SQL of the columns that describe an organization. `organization` is the alias of its table. */
export const ORGANIZATION_COLUMNS = `organization.id as organization_id, organization.name as organization_name,
  organization.phone_region, organization.time_zone, organization.unknown_fields, organization.definitions_version`;

export function tenantOf(row: OrganizationColumns): Tenant {
  return {
    id: row.organization_id,
    name: row.organization_name,
    phoneRegion: row.phone_region,
    timeZone: row.time_zone,
    unknownFields: row.unknown_fields,
    definitionsVersion: row.definitions_version,
  };
}
