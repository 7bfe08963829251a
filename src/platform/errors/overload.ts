/** The `Retry-After` of `overloaded`. */
export const RETRY_AFTER_SECONDS = 1;
