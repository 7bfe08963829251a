import { typeInWords } from '../../components/change.js';
import { useEventTypes } from './event-types.js';

interface TypeChoiceProps {
  readonly label: string;
  readonly chosen: readonly string[];
  readonly onChange: (types: readonly string[]) => void;
}

/** Types of events. Those that only an extension has are shown if they are chosen. */
export function TypeChoice({ label, chosen, onChange }: TypeChoiceProps) {
  const known = useEventTypes();
  const types = [...known, ...chosen.filter((type) => !known.includes(type))];
  const toggle = (type: string) => {
    onChange(types.filter((one) => chosen.includes(one) !== (one === type)));
  };
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {types.map((type) => (
        <label key={type}>
          <input
            type="checkbox"
            checked={chosen.includes(type)}
            onChange={() => {
              toggle(type);
            }}
          />{' '}
          {typeInWords(type)}
        </label>
      ))}
    </fieldset>
  );
}
