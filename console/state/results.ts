/** What views have read, by name, so that a view that is opened again shows it at once. */
const results = new Map<string, unknown>();
const MAX_RESULTS = 50;

export function resultOf(name: string): unknown {
  return results.get(name);
}

export function keepResult(name: string, result: unknown): void {
  results.delete(name);
  results.set(name, result);
  const [oldest] = results.keys();
  if (results.size > MAX_RESULTS && oldest !== undefined) results.delete(oldest);
}

export function forgetResults(): void {
  results.clear();
}
