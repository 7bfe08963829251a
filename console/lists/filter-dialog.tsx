import type { LatitudeError } from 'latitude/client';
import { useState } from 'preact/hooks';
import { Dialog } from '../components/dialog.js';
import { Field } from '../forms/field.js';
import { texts } from '../texts.js';
import { setFilter } from './list-state.js';

interface FilterDialogProps {
  readonly value: string;
  /** @throws LatitudeError that says what is wrong */
  readonly check: (filter: object) => Promise<unknown>;
  readonly onClose: () => void;
}

/** A filter as JSON, which the API checks before the list is read with it. */
export function FilterDialog({ value, check, onClose }: FilterDialogProps) {
  const [text, setText] = useState(value === '' ? '' : indented(value));
  const [error, setError] = useState('');
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    try {
      if (text.trim() === '') {
        setFilter('filter', undefined);
      } else {
        const filter = JSON.parse(text) as object;
        await check(filter);
        setFilter('filter', JSON.stringify(filter));
      }
      onClose();
    } catch (problem) {
      setError(
        problem instanceof SyntaxError ? texts.form.json : (problem as LatitudeError).message,
      );
    }
  };
  return (
    <Dialog title={texts.filters.json} onClose={onClose}>
      <form onSubmit={(event) => void onSubmit(event)}>
        <Field
          spec={{
            name: 'filter',
            label: texts.filters.filter,
            kind: 'json',
            hint: texts.filters.jsonHint,
          }}
          value={text}
          error={error}
          onChange={(raw) => {
            setText(raw as string);
          }}
        />
        <button type="submit" class="primary">
          {texts.filters.apply}
        </button>
      </form>
    </Dialog>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
