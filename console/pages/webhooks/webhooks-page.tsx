import type { Webhook } from 'latitude/client';
import { typeInWords } from '../../components/change.js';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Pager } from '../../components/pager.js';
import { type Column, Table } from '../../components/table.js';
import { Text, Value } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { nextOf } from '../../lists/list-state.js';
import { useQuery } from '../../state/query.js';
import { useRoute } from '../../state/router.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';

const { labels } = texts.webhooks;

const COLUMNS: readonly Column<Webhook>[] = [
  {
    name: 'url',
    label: labels.url,
    // The address of a receiver is no page to open.
    cell: ({ id, url }) => (
      <Link to={`webhooks/${id}`}>
        <bdi>{url}</bdi>
      </Link>
    ),
  },
  {
    name: 'description',
    label: labels.description,
    cell: ({ description }) => <Value value={description} />,
  },
  {
    name: 'types',
    label: labels.types,
    cell: ({ types }) => <Value value={types.map(typeInWords)} />,
  },
  { name: 'state', label: labels.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
  {
    name: 'created_at',
    label: labels.created_at,
    cell: (webhook) => <Time value={webhook.created_at} />,
  },
];

export function WebhooksPage() {
  const may = useMay();
  const from = useRoute().query.get('from') ?? undefined;
  const page = Number(from ?? 1);
  const result = useQuery(`webhooks ${page}`, (client, signal) =>
    client.webhooks.list({ page }, { signal }),
  );
  const actions = may('webhooks:write') && (
    <Link to="webhooks/new" class="button primary">
      {texts.webhooks.create}
    </Link>
  );
  return (
    <Page title={texts.webhooks.title} actions={actions}>
      <Loaded of={result} isEmpty={({ data }) => data.length === 0} empty={texts.webhooks.empty}>
        {({ data, meta }) => (
          <>
            <Table
              caption={texts.webhooks.title}
              columns={COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
            />
            <Pager next={nextOf(meta)} isFurther={from !== undefined} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Whether events are sent, and why not. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { enabled, disabled_reason: reason, failing_since: since } = webhook;
  if (!enabled) {
    return <>{reason === null ? texts.webhooks.off : texts.webhooks.reasons[reason]}</>;
  }
  if (since === null) return <>{texts.webhooks.on}</>;
  return (
    <>
      <Text value={texts.webhooks.failing} /> <Time value={since} />
    </>
  );
}
