import type { ApiKey, ApiKeyCreate, IssuedApiKey } from 'latitude/client';
import { useState } from 'preact/hooks';
import { Link } from '../../components/link.js';
import { Page } from '../../components/page.js';
import { Secret } from '../../components/secret.js';
import { RecordForm } from '../../forms/record-form.js';
import { navigate } from '../../state/router.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { keyFieldsOf } from './key-fields.js';

/** Makes a key, and shows it once. */
export function NewKeyPage() {
  const { client, me } = useSignedIn();
  const [created, setCreated] = useState<IssuedApiKey>();
  if (created) return <Created issued={created} />;
  return (
    <Page title={texts.access.create}>
      <RecordForm<ApiKey>
        name="access/new"
        fields={keyFieldsOf(me)}
        initial={{ scopes: [], confirmations: 'never' }}
        create={(body, idempotencyKey) =>
          client.keys.create(body as ApiKeyCreate, { idempotencyKey })
        }
        onSaved={setCreated}
        onCancel={() => {
          navigate('access');
        }}
      />
    </Page>
  );
}

function Created({ issued: { key } }: { issued: IssuedApiKey }) {
  return (
    <Page title={texts.access.created}>
      {key === undefined ? (
        <p>{texts.access.lost}</p>
      ) : (
        <Secret title={texts.access.secret} value={key} />
      )}
      <Link to="access" class="button">
        {texts.access.toList}
      </Link>
    </Page>
  );
}
