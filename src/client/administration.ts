import { Collection, segmentOf } from './resource.js';
import type {
  ApiKey,
  ApiKeyCreate,
  CreateOptions,
  FirstKeyCreate,
  Grant,
  IssuedApiKey,
  KeyQuery,
  Organization,
  OrganizationCreate,
  OrganizationUpdate,
  Revoked,
  WriteOptions,
} from './types.js';

interface Types<R extends { id: string }> {
  Record: R;
  Item: R;
  Query: KeyQuery;
  Removed: Revoked;
}

/** The grants of the organization. The key needs `keys:read` and `keys:write`. */
export class Grants extends Collection<Types<Grant>> {
  /** Ends a grant with its tokens and sessions. */
  revoke(id: string, options?: WriteOptions): Promise<Revoked> {
    return this.remove(id, options);
  }
}

/**
 * The keys of the organization. The key of the client needs `keys:read` and `keys:write`. A response to `create` and
 * `rotate` lacks `key` if an earlier attempt has made the key: revoke it, and create another one.
 */
export class Keys extends Collection<Types<ApiKey>> {
  /** Creates a key, which ends with that of the client. */
  async create(fields: ApiKeyCreate, options?: CreateOptions): Promise<IssuedApiKey> {
    return this.transport.one(this.postOf('', fields, options), options);
  }

  /** Creates the successor of a key, which ends after `overlap_seconds`. */
  async rotate(
    id: string,
    fields: { overlap_seconds?: number | undefined } = {},
    options?: CreateOptions,
  ): Promise<IssuedApiKey> {
    return this.transport.one(this.postOf(`${segmentOf(id)}/rotate`, fields, options), options);
  }

  /** Revokes a key and those that it has created. */
  revoke(id: string, options?: WriteOptions): Promise<Revoked> {
    return this.remove(id, options);
  }
}

/** The organizations of an operator. The key of the client is an operator key. */
export class Organizations extends Collection<Types<Organization>> {
  async create(fields: OrganizationCreate, options?: CreateOptions): Promise<Organization> {
    return this.transport.one(this.postOf('', fields, options), options);
  }

  /** Renames, suspends or resumes an organization. */
  async update(
    id: string,
    fields: OrganizationUpdate,
    options: WriteOptions = {},
  ): Promise<Organization> {
    return this.transport.one(this.putOf(id, fields, options), options);
  }

  /** Replaces the first key of an organization, while it was never used. */
  async replaceFirstKey(id: string, options?: CreateOptions): Promise<IssuedApiKey> {
    const call = this.postOf(`${segmentOf(id)}/first-key/replace`, {}, options);
    return this.transport.one(call, options);
  }

  /** Creates the first key of an organization. */
  async createFirstKey(
    id: string,
    fields: FirstKeyCreate,
    options?: CreateOptions,
  ): Promise<IssuedApiKey> {
    return this.transport.one(this.postOf(`${segmentOf(id)}/keys`, fields, options), options);
  }
}
