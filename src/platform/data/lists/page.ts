import type { JsonSchema } from '../../fields/schema/json-schema.js';
import type { Items } from '../records/stored-record.js';
import { MAX_LIMIT } from './list-query.js';

/** The position of a page in its list, and the exact size of the list. */
export interface PageMeta {
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly total_pages: number;
}

export const PAGE_META_SCHEMA = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, description: 'Number of this page.' },
    limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, description: 'Records per page.' },
    total: { type: 'integer', minimum: 0, description: 'Exact number of records in the list.' },
    total_pages: { type: 'integer', minimum: 0, description: 'Number of pages in the list.' },
  } satisfies Record<keyof PageMeta, JsonSchema>,
  required: ['page', 'limit', 'total', 'total_pages'] satisfies (keyof PageMeta)[],
} as const;

/** One page of a list, as the API returns it. */
export class Page<T> {
  readonly meta: PageMeta;
  private items: readonly T[] | undefined;

  constructor(
    private readonly source: readonly T[] | Items<T>,
    { page, limit, total }: Omit<PageMeta, 'total_pages'>,
  ) {
    this.meta = { page, limit, total, total_pages: Math.ceil(total / limit) };
  }

  get data(): readonly T[] {
    return (this.items ??=
      'json' in this.source ? this.source.parse(this.source.json) : this.source);
  }

  /** The page as JSON. Items that were parsed may have changed since. */
  get text(): string {
    const isRead = this.items !== undefined || !('json' in this.source);
    const data = isRead ? JSON.stringify(this.data) : this.source.json;
    return `{"data":${data},"meta":${JSON.stringify(this.meta)}}`;
  }

  toJSON() {
    return { data: this.data, meta: this.meta };
  }
}

/** The position at which the next page begins. */
export interface CursorMeta {
  /** The value of `after` for the next page. */
  readonly next: string;
  /** Whether there is another page now. */
  readonly has_more: boolean;
}

export const CURSOR_META_SCHEMA = {
  type: 'object',
  properties: {
    next: {
      type: 'string',
      description: 'Value of `after` for the next page.',
      examples: ['019ad2c1-7c4e-71a3-8000-000000000000'],
    },
    has_more: {
      type: 'boolean',
      description: 'Whether there is another page now.',
      examples: [false],
    },
  } satisfies Record<keyof CursorMeta, JsonSchema>,
  required: ['next', 'has_more'] satisfies (keyof CursorMeta)[],
} as const;

/** A page of a list that grows at its end. The next page begins at a cursor. */
export class CursorPage<T> {
  /** @param json the items as a JSON array */
  constructor(
    private readonly json: string,
    readonly meta: CursorMeta,
  ) {}

  get data(): readonly T[] {
    return JSON.parse(this.json) as T[];
  }

  /** The page as JSON. */
  get text(): string {
    return `{"data":${this.json},"meta":${JSON.stringify(this.meta)}}`;
  }

  toJSON() {
    return { data: this.data, meta: this.meta };
  }
}
