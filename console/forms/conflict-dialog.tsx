import { useState } from 'preact/hooks';
import { Dialog } from '../components/dialog.js';
import { Value } from '../components/text.js';
import { texts } from '../texts.js';
import type { Conflict } from './save.js';

interface ConflictDialogProps {
  readonly conflicts: readonly Conflict[];
  readonly labelOf: (name: string) => string;
  /** @param theirs the names of the fields whose other value stays; undefined: nothing is saved */
  readonly onChoice: (theirs: ReadonlySet<string> | undefined) => void;
}

/** Shows both values of each field that two people have changed, and asks which one stays. */
export function ConflictDialog({ conflicts, labelOf, onChoice }: ConflictDialogProps) {
  const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
  const choose = (name: string, isTheirs: boolean) => {
    const others = [...theirs].filter((each) => each !== name);
    setTheirs(new Set(isTheirs ? [...others, name] : others));
  };
  return (
    <Dialog
      title={texts.form.conflictTitle}
      onClose={() => {
        onChoice(undefined);
      }}
    >
      <p>{texts.form.conflict}</p>
      {conflicts.map(({ name, mine, theirs: other }) => (
        <fieldset key={name}>
          <legend dir="auto">{labelOf(name)}</legend>
          {[false, true].map((isTheirs) => (
            <label key={String(isTheirs)} class="choice">
              <input
                type="radio"
                name={name}
                checked={theirs.has(name) === isTheirs}
                onChange={() => {
                  choose(name, isTheirs);
                }}
              />
              {isTheirs ? texts.form.theirs : texts.form.yours}:{' '}
              <Value value={isTheirs ? other : mine} />
            </label>
          ))}
        </fieldset>
      ))}
      <button
        type="button"
        class="primary"
        onClick={() => {
          onChoice(theirs);
        }}
      >
        {texts.form.save}
      </button>
    </Dialog>
  );
}
