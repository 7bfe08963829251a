import type { Webhook, WebhookCreate, WebhookWithSecret } from 'latitude/client';
import { useState } from 'preact/hooks';
import { Link } from '../../components/link.js';
import { Page } from '../../components/page.js';
import { Secret } from '../../components/secret.js';
import { RecordForm } from '../../forms/record-form.js';
import { navigate } from '../../state/router.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { useWebhookFields } from './webhook-fields.js';

/** Makes a webhook, and shows its secret once. */
export function NewWebhookPage() {
  const { client } = useSignedIn();
  const fields = useWebhookFields();
  const [created, setCreated] = useState<WebhookWithSecret>();
  if (created) return <Created webhook={created} />;
  return (
    <Page title={texts.webhooks.create}>
      <RecordForm<Webhook>
        name="webhooks/new"
        fields={fields}
        initial={{ enabled: true, types: [] }}
        create={(body, idempotencyKey) =>
          client.webhooks.create(body as WebhookCreate, { idempotencyKey })
        }
        onSaved={setCreated}
        onCancel={() => {
          navigate('webhooks');
        }}
      />
    </Page>
  );
}

function Created({ webhook: { id, secret } }: { webhook: WebhookWithSecret }) {
  return (
    <Page title={texts.webhooks.created}>
      {secret === undefined ? (
        <p>{texts.webhooks.noSecret}</p>
      ) : (
        <Secret title={texts.webhooks.secret} value={secret} />
      )}
      <Link to={`webhooks/${id}`} class="button">
        {texts.webhooks.toWebhook}
      </Link>
    </Page>
  );
}
