/** The result of a handler with `meta` beside `data`, and the status of the response. */
export class WithMeta<T, M extends object> {
  constructor(
    readonly data: T,
    readonly meta: M,
    readonly status: number,
  ) {}
}
