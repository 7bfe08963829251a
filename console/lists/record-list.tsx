import type { LatitudeClient } from 'latitude/client';
import { useState } from 'preact/hooks';
import { Dialog } from '../components/dialog.js';
import { Loaded } from '../components/loaded.js';
import { Pager } from '../components/pager.js';
import { type Column, type Sort, Table } from '../components/table.js';
import { Field } from '../forms/field.js';
import type { FieldSpec } from '../forms/kinds.js';
import { useQuery } from '../state/query.js';
import { useSignedIn } from '../state/session.js';
import { texts } from '../texts.js';
import { FilterBar } from './filter-bar.js';
import {
  nextOf,
  type Parameters,
  requestOf,
  setColumns,
  setSort,
  useListState,
} from './list-state.js';

/** A column that a person can choose. */
export interface ListColumn<Row> extends Column<Row> {
  /** The fields of the record that it shows, as the parameter `fields` has them. */
  readonly fields: readonly string[];
  /** Whether it is shown unless others are chosen. */
  readonly isUsual?: boolean;
}

interface Options {
  readonly signal?: AbortSignal;
}

interface RecordListProps<Row extends { id: string }> {
  /** Names the list, such as `Leads`. */
  readonly caption: string;
  readonly columns: readonly ListColumn<Row>[];
  readonly filters: readonly FieldSpec[];
  readonly order: Sort;
  readonly searchLabel?: string;
  readonly read: (
    client: LatitudeClient,
    query: Parameters,
    options: Options,
  ) => Promise<{ data: Row[]; meta: object }>;
  /** Counts all records that match. Their number is shown when it arrives. */
  readonly count: (
    client: LatitudeClient,
    query: Parameters,
    options: Options,
  ) => Promise<{ meta: { total: number } }>;
  /** Whether the list takes the parameter `filter`. */
  readonly takesFilter?: boolean;
  readonly empty: string;
  /** What a list says in which the filters leave nothing. */
  readonly noMatch: string;
}

/** A list of records with search, filters, order, columns and pages. Its state is in the address. */
export function RecordList<Row extends { id: string }>(props: RecordListProps<Row>) {
  const { caption, columns, filters, read, count, takesFilter, searchLabel } = props;
  const { client } = useSignedIn();
  const state = useListState(props.order);
  const { columns: chosen, sort, from } = state;
  const shown = columns.filter(({ name, isUsual }) => chosen?.includes(name) ?? isUsual);
  const fields = [...new Set(shown.flatMap((column) => column.fields))].join(',');
  const request = { ...requestOf(state), fields };
  const page = useQuery(`${caption} ${JSON.stringify(request)}`, (api, signal) =>
    read(api, request, { signal }),
  );
  const selection = Object.fromEntries(state.filters);
  const total = useQuery(
    page.data && `number of ${caption} ${JSON.stringify(selection)}`,
    (api, signal) => count(api, selection, { signal }),
  );
  const check = (filter: object) =>
    read(client, { filter: JSON.stringify(filter), limit: 1, after: '' }, {});
  return (
    <>
      <FilterBar
        key={state.filters.get('search')}
        state={state}
        specs={filters}
        searchLabel={searchLabel}
        check={takesFilter ? check : undefined}
      />
      <div class="title">
        <p class="hint">{total.data && texts.data.total(total.data.meta.total)}</p>
        <ColumnChoice columns={columns} shown={shown} />
      </div>
      <Loaded
        of={page}
        isEmpty={({ data }) => data.length === 0}
        empty={state.filters.size > 0 ? props.noMatch : props.empty}
      >
        {({ data, meta }) => (
          <>
            <Table
              caption={caption}
              columns={shown}
              rows={data}
              keyOf={({ id }) => id}
              sort={sort}
              onSort={setSort}
            />
            <Pager next={nextOf(meta)} isFurther={from !== undefined} />
          </>
        )}
      </Loaded>
    </>
  );
}

interface ColumnChoiceProps<Row> {
  readonly columns: readonly ListColumn<Row>[];
  readonly shown: readonly ListColumn<Row>[];
}

function ColumnChoice<Row>({ columns, shown }: ColumnChoiceProps<Row>) {
  const [isOpen, setOpen] = useState(false);
  const options = columns.map(({ name, label }) => ({ value: name, label }));
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setOpen(true);
        }}
      >
        {texts.data.columns}
      </button>
      {isOpen && (
        <Dialog
          title={texts.data.columns}
          onClose={() => {
            setOpen(false);
          }}
        >
          <Field
            spec={{ name: 'columns', label: texts.data.columns, kind: 'choices', options }}
            value={shown.map(({ name }) => name)}
            onChange={(names) => {
              setColumns(names as readonly string[]);
            }}
          />
        </Dialog>
      )}
    </>
  );
}
