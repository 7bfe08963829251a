import { useState } from 'preact/hooks';
import { Dialog } from '../components/dialog.js';
import { Value } from '../components/text.js';
import { texts } from '../texts.js';
import { FieldValue } from './details.js';
import type { FieldSpec } from './kinds.js';
import type { Conflict } from './save.js';

interface Question {
  readonly conflicts: readonly Conflict[];
  readonly resolve: (theirs: ReadonlySet<string> | undefined) => void;
}

/** Asks whose values stay: `choose` is for `saveChanges`, and `dialog` is rendered while it asks. */
export function useConflicts(fields: readonly FieldSpec[]) {
  const [question, setQuestion] = useState<Question>();
  const choose = (conflicts: readonly Conflict[]) =>
    new Promise<ReadonlySet<string> | undefined>((resolve) => {
      setQuestion({ conflicts, resolve });
    });
  const dialog = question && (
    <ConflictDialog
      conflicts={question.conflicts}
      fields={fields}
      onChoice={(theirs) => {
        setQuestion(undefined);
        question.resolve(theirs);
      }}
    />
  );
  return { choose, dialog };
}

interface ConflictDialogProps {
  readonly conflicts: readonly Conflict[];
  readonly fields: readonly FieldSpec[];
  /** @param theirs the names of the fields whose other value stays; undefined: nothing is saved */
  readonly onChoice: (theirs: ReadonlySet<string> | undefined) => void;
}

/** Shows both values of each field that two people have changed, and asks which one stays. */
function ConflictDialog({ conflicts, fields, onChoice }: ConflictDialogProps) {
  const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
  const choose = (name: string, isTheirs: boolean) => {
    const others = [...theirs].filter((each) => each !== name);
    setTheirs(new Set(isTheirs ? [...others, name] : others));
  };
  const specOf = (name: string) => fields.find((spec) => spec.name === name);
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
          <legend dir="auto">{specOf(name)?.label ?? name}</legend>
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
              <Chosen spec={specOf(name)} value={isTheirs ? other : mine} />
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

/** A value without links, because it is in a label. */
function Chosen({ spec, value }: { spec: FieldSpec | undefined; value: unknown }) {
  return spec ? <FieldValue spec={spec} value={value} isPlain /> : <Value value={value} />;
}
