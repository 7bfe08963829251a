import type { Webhook } from 'latitude/client';
import { typeInWords } from '../../components/change.js';
import { Link } from '../../components/link.js';
import type { Column } from '../../components/table.js';
import { Text, Value } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { PagedListPage } from '../../lists/paged-list-page.js';
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
  return (
    <PagedListPage
      view="webhooks"
      scope="webhooks:write"
      texts={texts.webhooks}
      columns={COLUMNS}
      read={(client, page, signal) => client.webhooks.list({ page }, { signal })}
    />
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
