/** A cache that drops the entry that was set least recently when it is full. */
export class BoundedCache<V> {
  private readonly values = new Map<string, V>();

  constructor(private readonly maxEntries: number) {}

  get(key: string): V | undefined {
    return this.values.get(key);
  }

  set(key: string, value: V): void {
    // A map keeps the order of insertion, so the oldest entry is first.
    this.values.delete(key);
    this.values.set(key, value);
    if (this.values.size <= this.maxEntries) return;
    const [oldest] = this.values.keys();
    if (oldest !== undefined) this.values.delete(oldest);
  }

  delete(key: string): void {
    this.values.delete(key);
  }
}
