import type { LatitudeError, WithDeletedAt } from 'latitude/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Pager } from '../../components/pager.js';
import { type Column, Table } from '../../components/table.js';
import { Time } from '../../components/time.js';
import { nextOf } from '../../lists/list-state.js';
import { useQuery } from '../../state/query.js';
import { useRoute } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { DELETED_LEADS, DELETED_TASKS, type DeletedKind } from './deleted-kinds.js';
import { RestoreFailure } from './restore-failure.js';

const MAX_ROWS = 50;

/** Deleted leads and tasks, which can be restored. */
export function TrashPage() {
  const { query } = useRoute();
  const may = useMay();
  const kinds = [DELETED_LEADS, DELETED_TASKS].filter(({ read }) => may(read));
  const isTasks = query.get('kind') === 'tasks' || !may('leads:read');
  const from = query.get('from') ?? undefined;
  return (
    <Page title={texts.trash.title}>
      <p class="hint">{texts.trash.explanation}</p>
      {kinds.length > 1 && (
        <nav aria-label={texts.trash.kinds}>
          <ul class="actions plain">
            {kinds.map(({ name, label }) => (
              <li key={name}>
                <Link to="trash" query={{ kind: name }} isCurrent={isTasks === (name === 'tasks')}>
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      )}
      {isTasks ? (
        <DeletedList key="tasks" kind={DELETED_TASKS} from={from} />
      ) : (
        <DeletedList key="leads" kind={DELETED_LEADS} from={from} />
      )}
    </Page>
  );
}

/** What became of a restore. */
interface Outcome {
  readonly id: string;
  readonly title: string;
  readonly error?: LatitudeError;
}

interface DeletedListProps<T> {
  readonly kind: DeletedKind<T>;
  readonly from: string | undefined;
}

function DeletedList<T>({ kind, from }: DeletedListProps<T>) {
  type Row = T & WithDeletedAt & { id: string };
  const { client } = useSignedIn();
  const mayRestore = useMay()(kind.write);
  const [busy, setBusy] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>();
  const page = useQuery(`deleted ${kind.name} ${from ?? ''}`, (api, signal) =>
    kind.list(api, { limit: MAX_ROWS, ...(from === undefined ? {} : { after: from }) }, signal),
  );
  const restore = async (row: Row) => {
    const { id } = row;
    const title = kind.titleOf(row);
    setBusy(id);
    try {
      await kind.restore(client, id);
      setOutcome({ id, title });
      page.reload();
    } catch (error) {
      setOutcome({ id, title, error: error as LatitudeError });
    } finally {
      setBusy(undefined);
    }
  };
  const columns: Column<Row>[] = [
    ...kind.columns,
    {
      name: 'deleted_at',
      label: texts.trash.deletedAt,
      cell: ({ deleted_at: at }) => <Time value={at} isAgo />,
    },
  ];
  const action: Column<Row> = {
    name: 'restore',
    label: texts.trash.action,
    cell: (row) => (
      <button
        type="button"
        aria-label={texts.trash.restoreOne(kind.titleOf(row))}
        disabled={busy !== undefined}
        onClick={() => void restore(row)}
      >
        {texts.trash.restore}
      </button>
    ),
  };
  return (
    <>
      {outcome && <OutcomeNotice outcome={outcome} kind={kind.name} />}
      <Loaded of={page} isEmpty={({ data }) => data.length === 0} empty={texts.trash.empty}>
        {({ data, meta }) => (
          <>
            <Table
              caption={`${texts.trash.title}: ${kind.label}`}
              columns={mayRestore ? [...columns, action] : columns}
              rows={data}
              keyOf={({ id }) => id}
            />
            <Pager next={nextOf(meta)} isFurther={from !== undefined} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** It takes the focus of the button, whose row is gone. */
function OutcomeNotice({ outcome, kind }: { outcome: Outcome; kind: string }) {
  const notice = useRef<HTMLDivElement>(null);
  useEffect(() => {
    notice.current?.focus();
  }, [outcome]);
  const { id, title, error } = outcome;
  return (
    <div ref={notice} tabIndex={-1}>
      {error ? (
        <RestoreFailure error={error} title={title} />
      ) : (
        <p class="notice" role="status">
          {texts.trash.restored} <Link to={`${kind}/${id}`}>{<bdi>{title}</bdi>}</Link>
        </p>
      )}
    </div>
  );
}
