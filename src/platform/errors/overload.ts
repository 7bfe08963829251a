/** The headers of `overloaded`. */
export const OVERLOAD_HEADERS = { 'Retry-After': '1' } as const;
