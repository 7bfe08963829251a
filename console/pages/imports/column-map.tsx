import type { ComponentChildren } from 'preact';
import { Value } from '../../components/text.js';
import { Field } from '../../forms/field.js';
import type { Option } from '../../forms/kinds.js';
import { texts } from '../../texts.js';
import { LEAD_FIELDS, useCustomFields } from '../leads/lead-fields.js';
import type { CsvTable } from './csv.js';

/** The fields to which columns go, by the names of the columns. The service chooses the fields of all others. */
export type ColumnMap = ReadonlyMap<string, string>;

const words = texts.imports;

/** Stands for a column that is left out. */
const LEFT_OUT = '-';

/** The parameter `map` of an import; undefined if the service decides about every column. */
export function mapParameter(map: ColumnMap): string | undefined {
  if (map.size === 0) return undefined;
  const entries = [...map].map(([column, field]) => [column, field === LEFT_OUT ? null : field]);
  return JSON.stringify(Object.fromEntries(entries));
}

interface ColumnChoicesProps {
  readonly table: CsvTable;
  readonly map: ColumnMap;
  readonly errors: ReadonlyMap<string, ComponentChildren>;
  readonly onChange: (map: ColumnMap) => void;
}

/** Each column with its first values, and the field to which it goes. */
export function ColumnChoices({ table, map, errors, onChange }: ColumnChoicesProps) {
  const fields = useTargetFields();
  const choose = (column: string, field: string) => {
    const others = [...map].filter(([name]) => name !== column);
    onChange(new Map(field === '' ? others : [...others, [column, field]]));
  };
  return (
    <div class="columns">
      {table.header.map((column, index) => (
        <section class="card" key={`${index} ${column}`}>
          <Field
            spec={{
              name: column,
              label: column || words.unnamed,
              kind: 'choice',
              // No empty choice is added: the choice '' is Automatic.
              isRequired: true,
              options: optionsOf(column, fields),
            }}
            value={map.get(column) ?? ''}
            error={errors.get(column)}
            onChange={(field) => {
              choose(column, field as string);
            }}
          />
          <ol class="samples">
            {table.rows.map((row, number) => (
              <li key={number} dir="auto">
                <Value value={row[index]} />
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

function useTargetFields(): readonly Option[] {
  const definitions = useCustomFields();
  return [
    { value: 'name', label: words.wholeName },
    ...LEAD_FIELDS.map(({ name, label }) => ({ value: name, label })),
    ...definitions.map(({ key, label }) => ({
      value: `custom_fields.${key}`,
      label: label ?? key,
    })),
  ];
}

/**
 * The choices for a column: automatic, left out, a custom field of its name, and all fields. The field that is shown for
 * automatic is a guess, because the service recognizes more spellings.
 */
function optionsOf(column: string, fields: readonly Option[]): readonly Option[] {
  const name = normalized(column);
  const guess = fields.find(({ value, label }) => [value, label].map(normalized).includes(name));
  const customField = `custom_fields.${column}`;
  const canBeNew = column !== '' && !fields.some(({ value }) => value === customField);
  return [
    { value: '', label: guess ? words.automaticTo(guess.label) : words.automatic },
    { value: LEFT_OUT, label: words.leaveOut },
    ...(canBeNew ? [{ value: customField, label: words.customField(column) }] : []),
    ...fields,
  ];
}

/** The letters and digits of a name, in lower case. */
const normalized = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
