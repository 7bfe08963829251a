import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Raw } from '../state/drafts.js';
import { texts } from '../texts.js';
import { LeadPicker } from './lead-picker.js';
import type { FieldKind, FieldSpec } from './kinds.js';

const FLAGS = [
  { value: 'true', label: texts.data.yes },
  { value: 'false', label: texts.data.no },
];

interface FieldProps {
  readonly spec: FieldSpec;
  readonly value: Raw;
  readonly error?: ComponentChildren;
  readonly onChange: (value: Raw) => void;
}

/** The other kinds are text. */
const INPUT_TYPES: Partial<Record<FieldKind, string>> = {
  email: 'email',
  tel: 'tel',
  url: 'url',
  date: 'date',
  time: 'datetime-local',
};

/** A field with its label, hint and error. The service checks the value. */
export function Field({ spec, value, error, onChange }: FieldProps) {
  const { label, kind, hint } = spec;
  // A required choice always has a value.
  const isRequired = spec.isRequired && kind !== 'choice';
  const id = useId();
  const control = <Control {...{ id, spec, value, onChange }} isInvalid={!!error} />;
  const mark = isRequired && <span class="hint"> ({texts.form.required})</span>;
  const about = (
    <div id={`${id}-about`}>
      {hint && <p class="hint">{hint}</p>}
      {error && <p class="error">{error}</p>}
    </div>
  );
  if (kind === 'choices') {
    return (
      <fieldset aria-describedby={`${id}-about`}>
        <legend dir="auto">
          {label}
          {mark}
        </legend>
        {control}
        {about}
      </fieldset>
    );
  }
  return (
    <div class="field">
      {kind === 'checkbox' && control}
      <label for={id} dir="auto">
        {label}
        {mark}
      </label>
      {kind !== 'checkbox' && control}
      {about}
    </div>
  );
}

interface ControlProps extends Omit<FieldProps, 'error'> {
  readonly id: string;
  readonly isInvalid: boolean;
}

function Control({ id, spec, value, isInvalid, onChange }: ControlProps) {
  const { kind, isRequired, options = [] } = spec;
  const onText = ({ currentTarget }: { currentTarget: { value: string } }) => {
    onChange(currentTarget.value);
  };
  const common = {
    id,
    'aria-invalid': isInvalid,
    'aria-describedby': `${id}-about`,
    'aria-required': isRequired,
    dir: 'auto',
  } as const;
  if (kind === 'choices') {
    return <Choices {...{ options, onChange }} chosen={value as readonly string[]} />;
  }
  if (kind === 'checkbox') {
    const onCheck = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      onChange(currentTarget.checked);
    };
    return <input {...common} type="checkbox" checked={value === true} onChange={onCheck} />;
  }
  const text = value as string;
  if (kind === 'lead') return <LeadPicker input={common} value={text} onChange={onChange} />;
  if (kind === 'choice' || kind === 'flag') {
    return (
      <select {...common} value={text} onChange={onText}>
        {!isRequired && <option value="">{texts.data.none}</option>}
        {withStored(kind === 'flag' ? FLAGS : options, text).map(({ value: each, label }) => (
          <option key={each} value={each}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'long' || kind === 'lines' || kind === 'json') {
    return <textarea {...common} value={text} onInput={onText} spellcheck={kind === 'long'} />;
  }
  const inputMode = kind === 'number' ? 'decimal' : undefined;
  return (
    <input
      {...common}
      type={(INPUT_TYPES[kind] ?? 'text') as 'text'}
      inputMode={inputMode}
      autoComplete="off"
      value={text}
      onInput={onText}
    />
  );
}

/** A stored value that is no option any more stays one. */
function withStored(options: NonNullable<FieldSpec['options']>, value: string) {
  const isKnown = value === '' || options.some((option) => option.value === value);
  return isKnown ? options : [...options, { value, label: value }];
}

interface ChoicesProps {
  readonly options: NonNullable<FieldSpec['options']>;
  readonly chosen: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
}

function Choices({ options, chosen, onChange }: ChoicesProps) {
  return (
    <div class="choices">
      {options.map(({ value, label }) => (
        <label key={value} class="choice" dir="auto">
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={({ currentTarget }) => {
              const others = chosen.filter((each) => each !== value);
              onChange(currentTarget.checked ? [...others, value] : others);
            }}
          />
          {label}
        </label>
      ))}
    </div>
  );
}
