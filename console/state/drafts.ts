/** What people have typed and not saved, by the name of the form. It survives other views, but no reload. */
const drafts = new Map<string, ReadonlyMap<string, unknown>>();

export function draftOf(form: string): ReadonlyMap<string, unknown> {
  return drafts.get(form) ?? new Map();
}

export function keepDraft(form: string, values: ReadonlyMap<string, unknown>): void {
  if (values.size === 0) drafts.delete(form);
  else drafts.set(form, values);
}

export function forgetDrafts(): void {
  drafts.clear();
}

addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault();
});
