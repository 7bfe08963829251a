/** A value now, where nothing has to be waited for: a request that waits for nothing is faster. */
export type Soon<T> = T | Promise<T>;

/** Goes on with a value as soon as it is there. */
export function soon<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
