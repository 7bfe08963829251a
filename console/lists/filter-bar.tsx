import { useState } from 'preact/hooks';
import { MOMENT } from '../components/time.js';
import { Field } from '../forms/field.js';
import { CONVERSIONS, type FieldSpec } from '../forms/kinds.js';
import type { Raw } from '../state/drafts.js';
import { texts } from '../texts.js';
import { FilterDialog } from './filter-dialog.js';
import { clearFilters, type ListState, setFilter } from './list-state.js';

interface FilterBarProps {
  readonly state: ListState;
  /** The filters of the list; `name` is the parameter of the API. */
  readonly specs: readonly FieldSpec[];
  /** What the search finds; without it, the list has no search. */
  readonly searchLabel?: string | undefined;
  /** Checks a filter as JSON by the API; without it, the list takes none. @throws LatitudeError */
  readonly check?: ((filter: object) => Promise<unknown>) | undefined;
}

/** Search, filters as chips, and the rest of the filter language as JSON. */
export function FilterBar({ state, specs, searchLabel, check }: FilterBarProps) {
  const [isAdding, setAdding] = useState(false);
  const [isJson, setJson] = useState(false);
  const { filters } = state;
  const json = filters.get('filter');
  return (
    <div class="filters">
      {searchLabel && <Search label={searchLabel} value={filters.get('search') ?? ''} />}
      <Chips filters={filters} specs={specs} />
      <div class="actions">
        <button
          type="button"
          aria-expanded={isAdding}
          onClick={() => {
            setAdding(!isAdding);
          }}
        >
          {texts.filters.add}
        </button>
        {check && (
          <button
            type="button"
            onClick={() => {
              setJson(true);
            }}
          >
            {texts.filters.json}
          </button>
        )}
      </div>
      {isAdding && (
        <AddFilter
          specs={specs}
          onAdded={() => {
            setAdding(false);
          }}
        />
      )}
      {isJson && check && (
        <FilterDialog
          value={json ?? ''}
          check={check}
          onClose={() => {
            setJson(false);
          }}
        />
      )}
    </div>
  );
}

function Search({ label, value }: { label: string; value: string }) {
  const [text, setText] = useState(value);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        setFilter('search', text.trim());
      }}
    >
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        dir="auto"
        maxLength={100}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
        }}
      />
      <button type="submit">{texts.filters.search}</button>
    </form>
  );
}

interface ChipsProps {
  readonly filters: ReadonlyMap<string, string>;
  readonly specs: readonly FieldSpec[];
}

function Chips({ filters, specs }: ChipsProps) {
  if (filters.size === 0) return null;
  return (
    <ul class="chips" aria-label={texts.filters.title}>
      {[...filters].map(([name, value]) => {
        const text = `${labelOf(specs, name)}: ${shown(specs, name, value)}`;
        return (
          <li key={name} class="chip">
            <bdi>{text}</bdi>
            <button
              type="button"
              class="quiet"
              aria-label={texts.filters.remove(text)}
              onClick={() => {
                setFilter(name, undefined);
              }}
            >
              ×
            </button>
          </li>
        );
      })}
      <li>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            clearFilters(filters.keys());
          }}
        >
          {texts.filters.clear}
        </button>
      </li>
    </ul>
  );
}

function labelOf(specs: readonly FieldSpec[], name: string): string {
  if (name === 'search') return texts.filters.search;
  if (name === 'filter') return texts.filters.filter;
  return specs.find((spec) => spec.name === name)?.label ?? name;
}

function shown(specs: readonly FieldSpec[], name: string, value: string): string {
  const spec = specs.find((each) => each.name === name);
  const time = new Date(value);
  if (spec?.kind === 'time' && !Number.isNaN(time.getTime())) return MOMENT.format(time);
  return spec?.options?.find((option) => option.value === value)?.label ?? value;
}

interface AddFilterProps {
  readonly specs: readonly FieldSpec[];
  readonly onAdded: () => void;
}

function AddFilter({ specs, onAdded }: AddFilterProps) {
  const [name, setName] = useState(specs[0]?.name ?? '');
  const [raw, setRaw] = useState<Raw>('');
  const spec = specs.find((each) => each.name === name);
  const options = specs.map(({ name: value, label }) => ({ value, label }));
  const field = {
    name: 'name',
    label: texts.filters.field,
    kind: 'choice',
    isRequired: true,
  } as const;
  return (
    <form
      class="filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        const value = spec && CONVERSIONS[spec.kind].toValue(raw);
        if (typeof value !== 'string') return;
        setFilter(name, value);
        onAdded();
      }}
    >
      <Field
        spec={{ ...field, options }}
        value={name}
        onChange={(chosen) => {
          setName(chosen as string);
          setRaw('');
        }}
      />
      {spec && <Field spec={{ ...spec, label: texts.data.value }} value={raw} onChange={setRaw} />}
      <button type="submit" class="primary">
        {texts.filters.apply}
      </button>
    </form>
  );
}
