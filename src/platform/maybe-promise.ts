/** A value or a promise. Synchronous values avoid the cost of a promise on each request. */
export type MaybePromise<T> = T | Promise<T>;

/** Applies a function to a value, synchronously unless the value is a promise. */
export function mapMaybePromise<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
