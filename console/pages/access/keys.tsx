import type { ApiKey } from 'latitude/client';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Loaded } from '../../components/loaded.js';
import { Pager } from '../../components/pager.js';
import { type Column, Table } from '../../components/table.js';
import { Text } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { nextOf } from '../../lists/list-state.js';
import { announce } from '../../state/announce.js';
import { useQuery } from '../../state/query.js';
import { useRoute } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { stateOf } from './key-fields.js';
import { RotateButton } from './rotate-button.js';

const { labels } = texts.access;

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    name: 'name',
    label: labels.name,
    cell: ({ name, key_start }) => (
      <>
        <Text value={name} />
        <div class="hint">{key_start}…</div>
      </>
    ),
  },
  {
    name: 'scopes',
    label: labels.scopes,
    cell: ({ scopes }) => <Text value={scopes.join(', ')} />,
  },
  {
    name: 'limits',
    label: labels.limits,
    cell: ({ reads_per_minute: reads, writes_per_minute: writes }) =>
      texts.access.limits(reads, writes),
  },
  {
    name: 'last_used_at',
    label: labels.last_used_at,
    cell: ({ last_used_at: used }) => (used ? <Time value={used} isAgo /> : texts.access.never),
  },
  { name: 'state', label: labels.state, cell: (key) => <State of={key} /> },
];

interface KeysProps {
  readonly mayWrite: boolean;
  /** Called with the key that has replaced another one. */
  readonly onRotated: (key: string | undefined) => void;
}

/** The keys of the organization. */
export function Keys({ mayWrite, onRotated }: KeysProps) {
  const from = useRoute().query.get('from') ?? undefined;
  const page = Number(from ?? 1);
  const result = useQuery(`keys ${page}`, (client, signal) =>
    client.keys.list({ page }, { signal }),
  );
  const actions: Column<ApiKey> = {
    name: 'actions',
    label: labels.actions,
    cell: (key) => (
      <Actions
        of={key}
        onRotated={(successor) => {
          onRotated(successor);
          result.reload();
        }}
        onRevoked={result.reload}
      />
    ),
  };
  return (
    <section>
      <h2>{texts.access.keys}</h2>
      <Loaded of={result}>
        {({ data, meta }) => (
          <>
            <Table
              caption={texts.access.keys}
              columns={mayWrite ? [...COLUMNS, actions] : COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
            />
            <Pager next={nextOf(meta)} isFurther={from !== undefined} />
          </>
        )}
      </Loaded>
    </section>
  );
}

interface ActionsProps {
  readonly of: ApiKey;
  readonly onRotated: (key: string | undefined) => void;
  readonly onRevoked: () => void;
}

/** What the key of the person may do to another key: nothing that needs a scope which it lacks. */
function Actions({ of: key, onRotated, onRevoked }: ActionsProps) {
  const { client, me } = useSignedIn();
  const may = useMay();
  const isOwn = key.id === me.key.id;
  if (stateOf(key) !== 'valid' || !key.scopes.every((scope) => may(scope))) return null;
  const revoke = async () => {
    await client.keys.revoke(key.id);
    announce(texts.access.revoked);
    onRevoked();
  };
  return (
    <div class="actions">
      {key.successor_id === null && <RotateButton of={key} onRotated={onRotated} />}
      <ConfirmButton
        label={texts.access.revoke}
        title={texts.access.revokeTitle(key.name)}
        text={isOwn ? texts.access.revokeOwn : texts.access.revokeText}
        onConfirm={revoke}
      />
    </div>
  );
}

/** Whether a key or a grant is valid, and until when. */
export function State({ of }: { of: Pick<ApiKey, 'revoked_at' | 'expires_at'> }) {
  const { expires_at: expires, revoked_at: revoked } = of;
  const state = stateOf(of);
  const time = state === 'revoked' ? revoked : expires;
  const label =
    state === 'valid' && time !== null ? texts.access.until : texts.access.states[state];
  return (
    <>
      {label} {time !== null && <Time value={time} />}
    </>
  );
}
