/** A value now, where nothing has to be waited for: a request that waits for nothing is faster. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value as soon as it is there. */
export function mapMaybePromise<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
