import { changeQuery } from '../state/router.js';
import { texts } from '../texts.js';

interface PagerProps {
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
  /** Whether this is not the first page. */
  readonly isFurther: boolean;
}

/** Goes on to the next page of a list. Where it begins is in the address, so the browser goes back. */
export function Pager({ next, isFurther }: PagerProps) {
  if (next === undefined && !isFurther) return null;
  const go = (from: string | undefined) => {
    changeQuery({ from });
    document.getElementById('content')?.focus();
  };
  return (
    <div class="actions">
      {isFurther && (
        <button
          type="button"
          onClick={() => {
            go(undefined);
          }}
        >
          {texts.data.first}
        </button>
      )}
      {next !== undefined && (
        <button
          type="button"
          onClick={() => {
            go(next);
          }}
        >
          {texts.data.next}
        </button>
      )}
    </div>
  );
}
