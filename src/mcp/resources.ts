import { Injectable, type OnModuleInit } from '@nestjs/common';
import { lacksScope } from '../auth/access.js';
import { ApiError } from '../errors/api-error.js';
import { UUID } from '../fields/uuid.js';
import type { RateWindow } from '../rate-limit/rate-limit.storage.js';
import { RateLimits, tooManyRequests } from '../rate-limit/rate-limits.js';
import type { Actor } from '../tenancy/actor.js';
import { type DeclaredMethod, DeclaredMethods } from './declared-methods.js';
import { RESOURCE, type ResourceKind } from './resource.decorator.js';

const MIME_TYPE = 'application/json';
const ADDRESS = /^([a-z_]+):\/\/([^/]+)$/;

/** A kind of resource as `resources/templates/list` tells it. */
export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

/** A resource as it was read. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** The records that agents can read by their address. */
@Injectable()
export class Resources implements OnModuleInit {
  private kinds: ReadonlyMap<string, DeclaredMethod<ResourceKind>> = new Map();

  constructor(
    private readonly methods: DeclaredMethods,
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
  async recordFor(actor: Actor, name: string, id: string): Promise<object | undefined> {
    const kind = this.kinds.get(name);
    if (!kind || !actor.scopes.has(kind.declaration.scope)) return undefined;
    return (await kind.run(actor, id)) as object;
  }

  /**
   * Reads a record, which counts as a read of the key (decisions 4).
   * @param tell is told the window in which it was counted
   * @throws ApiError `not_found`, `insufficient_scope`, `rate_limit_exceeded`, `query_failed`
   */
  async read(
    actor: Actor,
    uri: string,
    tell: (state: RateWindow) => void,
  ): Promise<ResourceContents> {
    const state = await this.limits.count('reads', actor.key.id);
    tell(state);
    if (state.isBlocked) throw tooManyRequests(state);
    const [, name = '', id = ''] = ADDRESS.exec(uri) ?? [];
    const kind = this.kinds.get(name);
    if (!kind || !UUID.test(id)) throw new ApiError('not_found');
    const { declaration, run } = kind;
    if (!actor.scopes.has(declaration.scope)) throw lacksScope(declaration.scope);
    const record = await run({ ...actor, channel: 'ai' }, id.toLowerCase());
    return contentsOf({ uri, record });
  }
}

/** A record as it is read. */
export function contentsOf({ uri, record }: { uri: string; record: unknown }): ResourceContents {
  return { uri, mimeType: MIME_TYPE, text: JSON.stringify(record) };
}

function templateOf(kind: string): string {
  return `${kind}://{id}`;
}
