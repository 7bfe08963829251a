/** Lets the time pass that servers of this process cache keys. `jest.restoreAllMocks` sets the clock back. */
export function forgetCachedKeys(): void {
  const later = performance.now() + 1_000;
  jest.spyOn(performance, 'now').mockReturnValue(later);
}
