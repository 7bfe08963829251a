/** One page of a list, as it is answered (api.md 4.1). */
export class Page<T> {
  readonly meta: { page: number; limit: number; total: number; total_pages: number };

  constructor(
    readonly data: readonly T[],
    { page, limit, total }: { page: number; limit: number; total: number },
  ) {
    this.meta = { page, limit, total, total_pages: Math.ceil(total / limit) };
  }
}
