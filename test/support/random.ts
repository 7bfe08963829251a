/** A sequence of numbers that is the same in each run. */
export class Random {
  constructor(private state: number) {}

  below(limit: number): number {
    this.state = (Math.imul(this.state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff;
    return (this.state >>> 8) % limit;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  some<T>(values: readonly T[], most: number): T[] {
    return Array.from({ length: 1 + this.below(most) }, () => this.of(values));
  }
}
