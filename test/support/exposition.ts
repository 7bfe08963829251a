/** A sample of the text format of Prometheus. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What an instance exposes. */
export interface Exposition {
  /** The type of each metric. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of Prometheus. */
export function parseExposition(text: string): Exposition {
  const lines = text.split('\n');
  const types = lines.map((line) => /^# TYPE (\w+) (\w+)$/.exec(line)).filter((found) => found);
  const samples = lines.map((line) => /^(\w+)(?:\{(.*)\})? \S+$/.exec(line)).filter((line) => line);
  return {
    types: new Map(types.map((found) => [found![1]!, found![2]!])),
    samples: samples.map((line) => ({
      name: line![1]!,
      labels: Object.fromEntries(
        Array.from((line![2] ?? '').matchAll(LABEL), ([, label, value]) => [label, value]),
      ) as Record<string, string>,
    })),
  };
}

/** The metric to which a sample belongs. That of a bucket of a histogram has a shorter name. */
export function metricOf({ name }: Pick<Sample, 'name'>, { types }: Exposition): string {
  return types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
}
