import { useLayoutEffect, useReducer } from 'preact/hooks';

/** A value that components follow. */
export class Store<T> {
  private readonly listeners = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    if (value === this.current) return;
    this.current = value;
    for (const listener of this.listeners) listener();
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }
}

/** The value of a store. The component is rendered again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const shown = store.value;
  const [, refresh] = useReducer<number, undefined>((count) => count + 1, 0);
  useLayoutEffect(() => {
    const follow = () => {
      refresh(undefined);
    };
    // The value may have changed between the rendering and the subscription.
    if (store.value !== shown) follow();
    return store.subscribe(follow);
  }, [store]);
  return shown;
}
