/** The headers of every `overloaded`: clients may retry after a second. */
export const OVERLOAD_HEADERS = { 'Retry-After': '1' } as const;
