import { Injectable, type OnModuleInit } from '@nestjs/common';
import { insufficientScope } from '../../../platform/access/scopes.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { EventsService } from '../../events/events.service.js';
import { UUID } from '../../../platform/fields/kinds/uuid.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import { RateLimits, tooManyRequests } from '../../../platform/access/limits/rate-limits.js';
import type { Call } from '../../../platform/data/call.js';
import type { DecoratedMethod } from '../../../platform/discovery/decorated-methods.js';
import { MethodDiscovery } from '../method-discovery.js';
import { RESOURCE, type ResourceKind } from './resource.decorator.js';

const MIME_TYPE = 'application/json';
const RESOURCE_URI = /^([a-z_]+):\/\/([^/]+)$/;

/** In place of an id, names the list of the latest created records of a kind. */
const LIST_ID = 'list';

/** A resource in `resources/list`: the created records of a kind. */
export interface ListResource extends Omit<ResourceTemplate, 'uriTemplate'> {
  readonly uri: string;
}

/** A kind of resource in `resources/templates/list`. */
export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

/** The record or the list that a URI names. */
export interface ResourceReference {
  /** The URI as the caller wrote it. */
  readonly uri: string;
  /** The URI with its id in lower case. */
  readonly canonicalUri: string;
  readonly kind: ResourceKind;
  /** The id of the record; for a list, its URI. */
  readonly id: string;
}

/** A record that was read by its URI. */
export interface ReadResource extends ResourceReference {
  readonly record: unknown;
}

/** A resource in the result of `resources/read`. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** The kinds of records that agents can read by URI. */
@Injectable()
export class ResourceRegistry implements OnModuleInit {
  private kinds: ReadonlyMap<string, DecoratedMethod<ResourceKind>> = new Map();

  constructor(
    private readonly methods: MethodDiscovery,
    private readonly limits: RateLimits,
    private readonly events: EventsService,
  ) {}

  /** @throws Error when two kinds have the same name */
  onModuleInit(): void {
    this.kinds = this.methods.byName<ResourceKind>(RESOURCE);
  }

  /** @returns the kinds that a key with these scopes may read, in a fixed order */
  templatesFor(scopes: ReadonlySet<string>): ResourceTemplate[] {
    return [...this.kinds.values()]
      .map(({ declaration }) => declaration)
      .filter(({ scope }) => scopes.has(scope))
      .map(({ name, title, description }) => {
        return { uriTemplate: templateOf(name), name, title, description, mimeType: MIME_TYPE };
      });
  }

  /** @returns the lists of the kinds whose creations write events, which a key with these scopes may read */
  listsFor(scopes: ReadonlySet<string>): ListResource[] {
    return this.templatesFor(scopes)
      .filter(({ name }) => this.events.hasCreations(name))
      .map(({ name, title }) => ({
        uri: `${name}://${LIST_ID}`,
        name: `${name}_${LIST_ID}`,
        title: `${title}: created records`,
        description: 'The ids of the latest created records. Subscribe to it to learn of new ones.',
        mimeType: MIME_TYPE,
      }));
  }

  /**
   * Finds a kind by its URI template.
   * @returns undefined when there is none
   * @throws ApiError `insufficient_scope`
   */
  kindOf({ actor: { scopes } }: Call, uriTemplate: string): ResourceKind | undefined {
    const kind = [...this.kinds.values()]
      .map(({ declaration }) => declaration)
      .find(({ name }) => templateOf(name) === uriTemplate);
    if (kind && !scopes.has(kind.scope)) throw insufficientScope(kind.scope);
    return kind;
  }

  /**
   * Reads a record without counting it against the rate limit.
   * @returns undefined when there is no such kind or the key may not read it
   * @throws ApiError `not_found`
   */
  async readUncounted(call: Call, name: string, id: string): Promise<object | undefined> {
    const kind = this.kinds.get(name);
    if (!kind || !call.actor.scopes.has(kind.declaration.scope)) return undefined;
    return (await kind.run(call, id)) as object;
  }

  /**
   * Reads a record by its URI and counts a read (docs/contract/limits.md#mcp-messages).
   * @param onCounted receives the rate limit window before the record is read
   * @throws ApiError `not_found`, `insufficient_scope`, `rate_limit_exceeded`, `query_failed`
   */
  async read(
    call: Call,
    uri: string,
    onCounted: (window: RateWindow) => void,
  ): Promise<ReadResource> {
    const window = await this.limits.count('reads', call.actor);
    onCounted(window);
    if (window.isBlocked) throw tooManyRequests(window, 'reads');
    const reference = this.referenceOf(uri);
    const method = reference && this.kinds.get(reference.kind.name);
    if (!method) throw new ApiError('not_found');
    const { kind, id } = reference;
    if (!call.actor.scopes.has(kind.scope)) throw insufficientScope(kind.scope);
    if (isList(reference)) {
      return { ...reference, record: await this.events.latestCreations(call, kind.name) };
    }
    return { ...reference, record: await method.run(call, id) };
  }

  /**
   * Finds the records that have changed since a time, and the lists with new records.
   * @throws ApiError `query_failed`
   */
  async changedSince(
    call: Call,
    since: Date,
    references: readonly ResourceReference[],
  ): Promise<ResourceReference[]> {
    const readable = references.filter(({ kind }) => call.actor.scopes.has(kind.scope));
    const lists = readable.filter(isList);
    const records = readable.filter((reference) => !isList(reference));
    const changed = await this.events.changesSince(call, since, {
      ids: records.map(({ id }) => id),
      kinds: lists.map(({ kind }) => kind.name),
    });
    return [
      ...records.filter(({ id }) => changed.ids.includes(id)),
      ...lists.filter(({ kind }) => changed.kinds.includes(kind.name)),
    ];
  }

  /** The scope of a record or a list; none if a URI can name neither. */
  scopesOf(uri: string): readonly string[] {
    const scope = this.referenceOf(uri)?.kind.scope;
    return scope === undefined ? [] : [scope];
  }

  /** @returns undefined for a URI that can name neither a record nor a list */
  referenceOf(uri: string): ResourceReference | undefined {
    const canonicalUri = canonicalUriOf(uri);
    const [, name = '', id = ''] = RESOURCE_URI.exec(canonicalUri) ?? [];
    const method = this.kinds.get(name);
    const isListed = id === LIST_ID && this.events.hasCreations(name);
    if (!method || !(UUID.test(id) || isListed)) return undefined;
    return { uri, canonicalUri, kind: method.declaration, id: isListed ? canonicalUri : id };
  }
}

export function contentsOf({
  uri,
  record,
}: Pick<ReadResource, 'uri' | 'record'>): ResourceContents {
  return { uri, mimeType: MIME_TYPE, text: JSON.stringify(record) };
}

function isList({ id, canonicalUri }: ResourceReference): boolean {
  return id === canonicalUri;
}

function templateOf(kind: string): string {
  return `${kind}://{id}`;
}

/** Lowers the case of the id, which is not case-sensitive. The scheme is. */
export function canonicalUriOf(uri: string): string {
  return uri.replace(/(?<=:\/\/).*$/s, (id) => id.toLowerCase());
}
