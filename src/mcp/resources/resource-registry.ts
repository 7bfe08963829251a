import { Injectable, type OnModuleInit } from '@nestjs/common';
import { lacksScope } from '../../auth/access.js';
import { ApiError } from '../../errors/api-error.js';
import { UUID } from '../../fields/uuid.js';
import type { RateWindow } from '../../rate-limit/rate-limit.storage.js';
import { RateLimits, tooManyRequests } from '../../rate-limit/rate-limits.js';
import type { Actor } from '../../tenancy/actor.js';
import { type DiscoveredMethod, MethodDiscovery } from '../method-discovery.js';
import { RESOURCE, type ResourceKind } from './resource.decorator.js';

const MIME_TYPE = 'application/json';
const RESOURCE_URI = /^([a-z_]+):\/\/([^/]+)$/;

/** A kind of resource as `resources/templates/list` tells it. */
export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

/** A record that was found by its address. */
export interface ReadResource {
  /** The address as the caller wrote it. */
  readonly uri: string;
  /** The address in its one form. */
  readonly canonicalUri: string;
  readonly kind: ResourceKind;
  readonly id: string;
  readonly record: unknown;
}

/** A resource as it was read. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** The records that agents can read by their address. */
@Injectable()
export class ResourceRegistry implements OnModuleInit {
  private kinds: ReadonlyMap<string, DiscoveredMethod<ResourceKind>> = new Map();

  constructor(
    private readonly methods: MethodDiscovery,
    private readonly limits: RateLimits,
  ) {}

  /** @throws Error where two kinds have one name */
  onModuleInit(): void {
    this.kinds = this.methods.byName<ResourceKind>(RESOURCE);
  }

  /** The kinds that a key with these scopes may read, always in the same order. */
  templatesFor(scopes: ReadonlySet<string>): ResourceTemplate[] {
    return [...this.kinds.values()]
      .map(({ declaration }) => declaration)
      .filter(({ scope }) => scopes.has(scope))
      .map(({ name, title, description }) => {
        return { uriTemplate: templateOf(name), name, title, description, mimeType: MIME_TYPE };
      });
  }

  /**
   * The kind that an address template is of.
   * @returns undefined where there is none
   * @throws ApiError `insufficient_scope`
   */
  kindOf({ scopes }: Actor, uriTemplate: string): ResourceKind | undefined {
    const kind = [...this.kinds.values()]
      .map(({ declaration }) => declaration)
      .find(({ name }) => templateOf(name) === uriTemplate);
    if (kind && !scopes.has(kind.scope)) throw lacksScope(kind.scope);
    return kind;
  }

  /**
   * A record that a tool is about, without counting.
   * @returns undefined where the key may not read it, or there is no such kind
   * @throws ApiError `not_found`
   */
  async readUncounted(actor: Actor, name: string, id: string): Promise<object | undefined> {
    const kind = this.kinds.get(name);
    if (!kind || !actor.scopes.has(kind.declaration.scope)) return undefined;
    return (await kind.run(actor, id)) as object;
  }

  /**
   * Finds a record, which counts as a read of the key (docs/contract/limits.md#mcp-messages).
   * @param tell is told the window in which it was counted
   * @throws ApiError `not_found`, `insufficient_scope`, `rate_limit_exceeded`, `query_failed`
   */
  async read(actor: Actor, uri: string, tell: (state: RateWindow) => void): Promise<ReadResource> {
    const state = await this.limits.count('reads', actor.key.id);
    tell(state);
    if (state.isBlocked) throw tooManyRequests(state, 'reads');
    const canonicalUri = canonicalUriOf(uri);
    const [, name = '', id = ''] = RESOURCE_URI.exec(canonicalUri) ?? [];
    const method = this.kinds.get(name);
    if (!method || !UUID.test(id)) throw new ApiError('not_found');
    const { declaration: kind, run } = method;
    if (!actor.scopes.has(kind.scope)) throw lacksScope(kind.scope);
    return { uri, canonicalUri, kind, id, record: await run({ ...actor, channel: 'ai' }, id) };
  }
}

/** A record as it is read. */
export function contentsOf({
  uri,
  record,
}: Pick<ReadResource, 'uri' | 'record'>): ResourceContents {
  return { uri, mimeType: MIME_TYPE, text: JSON.stringify(record) };
}

function templateOf(kind: string): string {
  return `${kind}://{id}`;
}

/** The one form of an address: ids are the same in upper case, schemes are not. */
export function canonicalUriOf(uri: string): string {
  return uri.replace(/(?<=:\/\/).*$/s, (id) => id.toLowerCase());
}
