import type { Calendar, CalendarWithAddress } from 'latitude/client';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Loaded } from '../../components/loaded.js';
import { Secret } from '../../components/secret.js';
import { type Column, Table } from '../../components/table.js';
import { Value } from '../../components/text.js';
import { Time } from '../../components/time.js';
import type { FieldSpec } from '../../forms/kinds.js';
import { RecordForm } from '../../forms/record-form.js';
import { useQuery } from '../../state/query.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';

const words = texts.calendars;

const MAX_CALENDARS = 100;

const DETAILS: readonly FieldSpec[] = [{ name: 'details', label: words.details, kind: 'checkbox' }];

const COLUMNS: readonly Column<Calendar>[] = [
  { name: 'details', label: words.details, cell: ({ details }) => <Value value={details} /> },
  {
    name: 'created_at',
    label: words.created_at,
    cell: (calendar) => <Time value={calendar.created_at} />,
  },
];

/** The calendars of a resource: the address of a new one is shown once. */
export function Calendars({ resourceId }: { resourceId: string }) {
  const may = useMay();
  const { client } = useSignedIn();
  const calendars = client.resources.calendars(resourceId);
  const [created, setCreated] = useState<CalendarWithAddress>();
  const result = useQuery(`calendars of ${resourceId}`, (api, signal) =>
    api.resources.calendars(resourceId).list({ limit: MAX_CALENDARS }, { signal }),
  );
  const mayWrite = may('resources:write');
  const revoke: Column<Calendar> = {
    name: 'revoke',
    label: words.actions,
    cell: ({ id }) => (
      <ConfirmButton
        label={words.revoke}
        title={words.revokeTitle}
        text={words.revokeText}
        onConfirm={async () => {
          await calendars.delete(id);
          if (created?.id === id) setCreated(undefined);
          result.reload();
        }}
      />
    ),
  };
  return (
    <section class="card">
      <h2>{words.title}</h2>
      <p class="hint">{words.explanation}</p>
      {created && <NewAddress calendar={created} />}
      <Loaded of={result} isEmpty={({ data }) => data.length === 0} empty={words.empty}>
        {({ data }) => (
          <Table
            caption={words.title}
            columns={mayWrite ? [...COLUMNS, revoke] : COLUMNS}
            rows={data}
            keyOf={({ id }) => id}
          />
        )}
      </Loaded>
      {mayWrite && (
        <RecordForm<CalendarWithAddress>
          key={created?.id}
          name={`calendars/${resourceId}`}
          fields={may('leads:read') ? DETAILS : []}
          create={(body, idempotencyKey) => calendars.create(body, { idempotencyKey })}
          onSaved={(calendar) => {
            setCreated(calendar);
            result.reload();
          }}
          submit={words.create}
        />
      )}
    </section>
  );
}

function NewAddress({ calendar: { url } }: { calendar: CalendarWithAddress }) {
  if (url === undefined) return <p class="notice">{words.noAddress}</p>;
  return <Secret title={words.address} value={url} />;
}
