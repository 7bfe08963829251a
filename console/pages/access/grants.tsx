import type { Grant } from 'latitude/client';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Loaded } from '../../components/loaded.js';
import { type Column, Table } from '../../components/table.js';
import { Text } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { announce } from '../../state/announce.js';
import { useQuery } from '../../state/query.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { State } from './keys.js';
import { stateOf } from './key-fields.js';

const { labels } = texts.access;

const MAX_GRANTS = 100;

const COLUMNS: readonly Column<Grant>[] = [
  {
    name: 'client_name',
    label: labels.application,
    cell: ({ client_name: name, client_id: id }) => (
      <>
        <Text value={name ?? id} />
        <div class="hint">
          <Text value={id} />
        </div>
      </>
    ),
  },
  {
    name: 'scopes',
    label: labels.scopes,
    cell: ({ scopes }) => <Text value={scopes.join(', ')} />,
  },
  {
    name: 'created_at',
    label: labels.granted,
    cell: ({ created_at: time }) => <Time value={time} />,
  },
  {
    name: 'last_used_at',
    label: labels.last_used_at,
    cell: ({ last_used_at: used }) => (used ? <Time value={used} isAgo /> : texts.access.never),
  },
  { name: 'state', label: labels.state, cell: (grant) => <State of={grant} /> },
];

/** The applications to which people have granted a part of a key. */
export function Grants({ mayWrite }: { mayWrite: boolean }) {
  const { client } = useSignedIn();
  const result = useQuery('grants', (api, signal) =>
    api.grants.list({ limit: MAX_GRANTS }, { signal }),
  );
  const actions: Column<Grant> = {
    name: 'actions',
    label: labels.actions,
    cell: (grant) =>
      stateOf(grant) === 'valid' && (
        <ConfirmButton
          label={texts.access.revoke}
          title={texts.access.revokeTitle(grant.client_name ?? grant.client_id)}
          text={texts.access.revokeGrant}
          onConfirm={async () => {
            await client.grants.revoke(grant.id);
            announce(texts.access.revoked);
            result.reload();
          }}
        />
      ),
  };
  return (
    <section>
      <h2>{texts.access.grants}</h2>
      <Loaded of={result} isEmpty={({ data }) => data.length === 0} empty={texts.access.noGrants}>
        {({ data }) => (
          <Table
            caption={texts.access.grants}
            columns={mayWrite ? [...COLUMNS, actions] : COLUMNS}
            rows={data}
            keyOf={({ id }) => id}
          />
        )}
      </Loaded>
    </section>
  );
}
