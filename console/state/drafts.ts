/** What was typed into a field: text, the state of a checkbox, or the chosen options. */
export type Raw = string | boolean | readonly string[];

/** What a person has typed and not saved, and the record at which it began. */
export interface Draft {
  readonly base: object | undefined;
  readonly typed: ReadonlyMap<string, Raw>;
}

/** Drafts by the name of the form. They survive other views and another key, but no reload. */
const drafts = new Map<string, Draft>();

export function draftOf(form: string): Draft | undefined {
  return drafts.get(form);
}

export function keepDraft(form: string, draft: Draft): void {
  if (draft.typed.size === 0) drafts.delete(form);
  else drafts.set(form, draft);
}

export function forgetDrafts(): void {
  drafts.clear();
}

addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault();
});
