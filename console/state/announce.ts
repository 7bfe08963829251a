import { Store } from './store.js';

/** What the live region says to screen readers, and the page shows for a moment. */
export const announcement = new Store<{ readonly text: string }>({ text: '' });

const SHOWN_MS = 6_000;

let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
  clearTimeout(timer);
  announcement.set({ text });
  timer = setTimeout(() => {
    announcement.set({ text: '' });
  }, SHOWN_MS);
}
