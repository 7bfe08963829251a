import type { Delivery, LatitudeError, Webhook } from 'latitude/client';
import { useEffect, useState } from 'preact/hooks';
import { typeInWords, viewOfRecord } from '../../components/change.js';
import { Link } from '../../components/link.js';
import { Failure, Loaded } from '../../components/loaded.js';
import { Pager } from '../../components/pager.js';
import { type Column, Table } from '../../components/table.js';
import { Text } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { Field } from '../../forms/field.js';
import { nextOf } from '../../lists/list-state.js';
import { useQuery } from '../../state/query.js';
import { changeQuery, useRoute } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';

const words = texts.deliveries;

/** How often deliveries are read again while one is pending, or there is none. */
const REFRESH_MS = 5_000;

const STATUSES = ['pending', 'succeeded', 'failed'] as const;
const STATUS = {
  name: 'status',
  label: words.status,
  kind: 'choice',
  options: STATUSES.map((value) => ({ value, label: words.statuses[value] })),
} as const;

/** The deliveries of a webhook: what was sent, what the receiver answered, and another attempt. */
export function Deliveries({ webhook: { id, enabled } }: { webhook: Webhook }) {
  const { query } = useRoute();
  const { client } = useSignedIn();
  const mayWrite = useMay()('webhooks:write') && enabled;
  const from = query.get('from') ?? undefined;
  const status = STATUSES.find((each) => each === query.get('status'));
  const request = { page: Number(from ?? 1), status };
  const result = useQuery(`deliveries of ${id} ${JSON.stringify(request)}`, (api, signal) =>
    api.webhooks.deliveries(id, request, { signal }),
  );
  const { data, reload } = result;
  useEffect(() => {
    const isAwaited = ({ status: state }: Delivery) => state === 'pending';
    if (!data || (data.data.length > 0 && !data.data.some(isAwaited))) return undefined;
    const timer = setTimeout(reload, REFRESH_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [data]);
  const columns = mayWrite
    ? [...COLUMNS, actionColumn((delivery) => client.webhooks.redeliver(id, delivery.id), reload)]
    : COLUMNS;
  return (
    <section>
      <div class="title">
        <h2>{words.title}</h2>
        <div class="actions">
          {mayWrite && (
            <Action label={words.test} run={() => client.webhooks.test(id)} onDone={reload} />
          )}
          <button type="button" onClick={reload}>
            {words.refresh}
          </button>
        </div>
      </div>
      <div class="toolbar">
        <Field
          spec={STATUS}
          value={status ?? ''}
          onChange={(value) => {
            changeQuery({ status: value as string, from: undefined });
          }}
        />
      </div>
      <Loaded of={result} isEmpty={(page) => page.data.length === 0} empty={words.empty}>
        {(page) => (
          <>
            <Table
              caption={words.title}
              columns={columns}
              rows={page.data}
              keyOf={(delivery) => delivery.id}
            />
            <Pager next={nextOf(page.meta)} isFurther={from !== undefined} />
          </>
        )}
      </Loaded>
    </section>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { name: 'type', label: words.event, cell: (delivery) => <EventLink delivery={delivery} /> },
  {
    name: 'created_at',
    label: words.created_at,
    cell: (delivery) => <Time value={delivery.created_at} />,
  },
  { name: 'status', label: words.status, cell: (delivery) => <State delivery={delivery} /> },
  {
    name: 'response',
    label: words.response,
    cell: (delivery) => <LastResponse delivery={delivery} />,
  },
];

/** The event, with a link to its record. */
function EventLink({ delivery: { type, record_id: id } }: { delivery: Delivery }) {
  const view = viewOfRecord(type, id);
  const name = typeInWords(type);
  return view === undefined ? <>{name}</> : <Link to={view}>{name}</Link>;
}

function State({ delivery: { status, attempts, next_attempt_at: next } }: { delivery: Delivery }) {
  return (
    <>
      {words.statuses[status]}, {words.attempts(attempts)}
      {next !== null && Date.parse(next) > Date.now() && (
        <div class="hint">
          {words.next} <Time value={next} isAgo />
        </div>
      )}
    </>
  );
}

function LastResponse({ delivery }: { delivery: Delivery }) {
  const { response_status, response_body, error, duration_ms, last_attempt_at } = delivery;
  if (last_attempt_at === null) return <>{texts.data.none}</>;
  return (
    <>
      {response_status ?? words.noAnswer}
      {duration_ms !== null && `, ${words.duration(duration_ms)}`}, <Time value={last_attempt_at} />
      {error !== null && (
        <div>
          <Text value={error} />
        </div>
      )}
      {response_body !== null && response_body !== '' && (
        <div class="hint">
          <Text value={response_body} />
        </div>
      )}
    </>
  );
}

function actionColumn(
  redeliver: (delivery: Delivery) => Promise<unknown>,
  onDone: () => void,
): Column<Delivery> {
  return {
    name: 'redeliver',
    label: words.redeliver,
    cell: (delivery) => (
      <Action label={words.redeliver} run={() => redeliver(delivery)} onDone={onDone} />
    ),
  };
}

interface ActionProps {
  readonly label: string;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void;
}

/** A button that does something at once, and says if it fails. */
function Action({ label, run, onDone }: ActionProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<LatitudeError>();
  const onClick = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await run();
      onDone();
    } catch (failure) {
      setError(failure as LatitudeError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void onClick()}>
        {label}
      </button>
      {error && <Failure error={error} title={words.failed} />}
    </>
  );
}
