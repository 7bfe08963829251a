import type {
  Resource,
  ResourceTemplateType,
  TextResourceContents,
} from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ApiError } from '../../../platform/errors/api-error.js';
import { EventsService } from '../../events/events.service.js';
import { UUID } from '../../../platform/fields/kinds/uuid.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import { RateLimits, tooManyRequests } from '../../../platform/access/limits/rate-limits.js';
import type { Call } from '../../../platform/data/call.js';
import { DeclaredMethods, missingScopeOf } from '../declared-methods.js';
import { RESOURCE, type ResourceKind } from './resource.decorator.js';

const MIME_TYPE = 'application/json';
const RESOURCE_URI = /^([a-z_]+):\/\/([^/]+)$/;

/** In place of an id, names the list of the latest created records of a kind. */
const LIST_ID = 'list';

/** The record or the list that a URI names. */
export interface ResourceReference {
  /** The URI as the caller wrote it. */
  readonly uri: string;
  /** The URI with its id in lower case. */
  readonly canonicalUri: string;
  readonly kind: ResourceKind;
  /** What changes are published for: the id of the record, or the URI of the list. */
  readonly id: string;
}

/** A record that was read by its URI. */
export interface ReadResource extends ResourceReference {
  readonly record: unknown;
}

/** A call that receives the rate limit window of each read. */
interface CountedCall {
  readonly call: Call;
  readonly onCounted: (window: RateWindow) => void;
}

/** The kinds of records that agents can read by URI. */
@Injectable()
export class ResourceRegistry extends DeclaredMethods<ResourceKind> {
  protected readonly metadata = RESOURCE;

  constructor(
    discovery: DiscoveryService,
    private readonly limits: RateLimits,
    private readonly events: EventsService,
  ) {
    super(discovery);
  }

  /** @returns the kinds that a key with these scopes may read, in a fixed order */
  templatesFor(scopes: ReadonlySet<string>): ResourceTemplateType[] {
    return this.allowed(scopes).map(({ name, title, description }) => {
      return { uriTemplate: templateOf(name), name, title, description, mimeType: MIME_TYPE };
    });
  }

  /**
   * The lists of created records that a key with these scopes may read. A kind has one if its creations write events,
   * because the list is read from the events.
   */
  listsFor(scopes: ReadonlySet<string>): Resource[] {
    return this.allowed(scopes)
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
   * Finds the name of a kind by its URI template.
   * @returns undefined when there is none
   * @throws ApiError `insufficient_scope`
   */
  kindOf(call: Call, uriTemplate: string): string | undefined {
    const name = [...this.methods.keys()].find((kind) => templateOf(kind) === uriTemplate);
    return name === undefined ? undefined : this.findFor(call, name)?.declaration.name;
  }

  /**
   * Reads a record without counting it against the rate limit.
   * @returns the record, and whether the key may read it; undefined when there is no such kind
   * @throws ApiError `not_found`
   */
  async readUncounted(call: Call, name: string, id: string) {
    const kind = this.methods.get(name);
    if (!kind) return undefined;
    const isReadable = missingScopeOf(kind.declaration, call.actor.scopes) === undefined;
    return { record: (await kind.run(call, id)) as object, isReadable };
  }

  /**
   * Reads a record by its URI and counts a read (docs/contract/limits.md#mcp-messages).
   * @throws ApiError `not_found`, `insufficient_scope`, `rate_limit_exceeded`, `query_failed`
   */
  async read(uri: string, { call, onCounted }: CountedCall): Promise<ReadResource> {
    const window = await this.limits.count('reads', call.actor);
    onCounted(window);
    if (window.isBlocked) throw tooManyRequests(window, 'reads');
    const reference = this.referenceOf(uri);
    const method = reference && this.findFor(call, reference.kind.name);
    if (!method) throw new ApiError('not_found');
    const { kind, id } = reference;
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
  scopesOfUri(uri: string): readonly string[] {
    return this.scopesOf(this.referenceOf(uri)?.kind.name ?? '');
  }

  /** @returns undefined for a URI that can name neither a record nor a list */
  referenceOf(uri: string): ResourceReference | undefined {
    const canonicalUri = canonicalUriOf(uri);
    const [, name = '', id = ''] = RESOURCE_URI.exec(canonicalUri) ?? [];
    const method = this.methods.get(name);
    const isListed = id === LIST_ID && this.events.hasCreations(name);
    if (!method || !(UUID.test(id) || isListed)) return undefined;
    return { uri, canonicalUri, kind: method.declaration, id: isListed ? canonicalUri : id };
  }
}

export function contentsOf(uri: string, record: unknown): TextResourceContents {
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
