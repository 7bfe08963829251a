/** A decorator of methods that return a `T` or a promise of it. */
export type HandlerDecorator<T> = <H extends (...args: never[]) => T | Promise<T>>(
  target: object,
  name: string | symbol,
  handler: TypedPropertyDescriptor<H>,
) => void;
