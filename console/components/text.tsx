import { useState } from 'preact/hooks';
import { texts } from '../texts.js';

/** Longer text is folded. */
const FOLDED = 280;

/** Text of a record, in its own direction, folded if it is long. */
export function Text({ value }: { value: string }) {
  const [isOpen, setOpen] = useState(false);
  const characters = [...value];
  const isLong = characters.length > FOLDED;
  const shown = isLong && !isOpen ? `${characters.slice(0, FOLDED).join('')}…` : value;
  return (
    <>
      <span class="text" dir="auto">
        {shown}
      </span>
      {isLong && (
        <button
          type="button"
          class="quiet"
          aria-expanded={isOpen}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          {isOpen ? texts.data.showLess : texts.data.showAll}
        </button>
      )}
    </>
  );
}

/** Any value of a record as text. */
export function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === '') return <>{texts.data.none}</>;
  if (typeof value === 'boolean') return <>{value ? texts.data.yes : texts.data.no}</>;
  if (typeof value === 'string') return <Text value={value} />;
  if (typeof value === 'number') return <>{String(value)}</>;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    if (value.length === 0) return <>{texts.data.none}</>;
    return (
      <ul class="chips">
        {value.map((item) => (
          <li class="chip" dir="auto" key={item}>
            {item}
          </li>
        ))}
      </ul>
    );
  }
  return <Text value={JSON.stringify(value, null, 2)} />;
}
