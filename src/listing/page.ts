/** The items of a page; whoever only passes them on need not know them. */
export interface Items<T> {
  readonly items: readonly T[];
  /** The items as a JSON array, where they are still as they were stored. */
  readonly text: string | undefined;
}

/** One page of a list, as it is answered (docs/contract/lists.md#response). */
export class Page<T> {
  readonly meta: { page: number; limit: number; total: number; total_pages: number };

  constructor(
    private readonly source: readonly T[] | Items<T>,
    { page, limit, total }: { page: number; limit: number; total: number },
  ) {
    this.meta = { page, limit, total, total_pages: Math.ceil(total / limit) };
  }

  get data(): readonly T[] {
    return 'items' in this.source ? this.source.items : this.source;
  }

  /** What is answered, as JSON. */
  get text(): string {
    const stored = 'text' in this.source ? this.source.text : undefined;
    const data = stored ?? JSON.stringify(this.data);
    return `{"data":${data},"meta":${JSON.stringify(this.meta)}}`;
  }

  toJSON() {
    return { data: this.data, meta: this.meta };
  }
}
