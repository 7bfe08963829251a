/** Values by their keys, of which those that were set longest ago are forgotten. */
export class BoundedCache<V> {
  private readonly values = new Map<string, V>();

  constructor(private readonly most: number) {}

  get(key: string): V | undefined {
    return this.values.get(key);
  }

  set(key: string, value: V): void {
    // The one that was set longest ago stands first.
    this.values.delete(key);
    this.values.set(key, value);
    if (this.values.size <= this.most) return;
    const [oldest] = this.values.keys();
    if (oldest !== undefined) this.values.delete(oldest);
  }

  delete(key: string): void {
    this.values.delete(key);
  }
}
