/**
 * Deals cases out to subjects that treat them in one place, such as routes behind the same guard: each subject gets some
 * of the cases, and over all subjects each case is tested several times.
 * @param index the number of the subject
 * @param size how many cases it gets
 */
export function shareOf<T>(cases: readonly T[], index: number, size: number): T[] {
  return Array.from({ length: size }, (_, i) => cases[(index * size + i) % cases.length] as T);
}
