import { Store } from './store.js';

/** What the live region says to screen readers, and the page shows for a moment. */
export const announcement = new Store<{ readonly text: string }>({ text: '' });

export function announce(text: string): void {
  announcement.set({ text });
}
