import type { Webhook } from 'latitude/client';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Secret } from '../../components/secret.js';
import { Value } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { Details } from '../../forms/details.js';
import { RecordForm } from '../../forms/record-form.js';
import { announce } from '../../state/announce.js';
import { type Result, useQuery } from '../../state/query.js';
import { navigate } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import type { ViewProps } from '../../views.js';
import { Deliveries } from './deliveries.js';
import { useWebhookFields } from './webhook-fields.js';
import { WebhookState } from './webhooks-page.js';

/** A webhook and its deliveries. */
export function WebhookPage({ segments }: ViewProps) {
  const [, id = ''] = segments;
  const mayWrite = useMay()('webhooks:write');
  const webhook = useQuery(`webhook ${id}`, (client, signal) =>
    client.webhooks.get(id, { signal }),
  );
  const [isEditing, setEditing] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { data } = webhook;
  return (
    <Page
      title={data?.url ?? texts.webhooks.one}
      actions={
        data &&
        mayWrite &&
        !isEditing && (
          <WebhookActions
            id={id}
            onEdit={() => {
              setEditing(true);
            }}
            onSecret={(next) => {
              setSecret(next);
              webhook.reload();
            }}
          />
        )
      }
    >
      {secret !== undefined && <Secret title={texts.webhooks.secret} value={secret} />}
      <Loaded of={webhook}>
        {(shown) => (
          <>
            <section class="card">
              {isEditing ? (
                <Editing
                  webhook={shown}
                  result={webhook}
                  onEnd={() => {
                    setEditing(false);
                  }}
                />
              ) : (
                <WebhookDetails webhook={shown} />
              )}
            </section>
            <Deliveries webhook={shown} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface EditingProps {
  readonly webhook: Webhook;
  readonly result: Result<Webhook>;
  readonly onEnd: () => void;
}

function Editing({ webhook, result, onEnd }: EditingProps) {
  const { client } = useSignedIn();
  const { id, types } = webhook;
  return (
    <RecordForm
      name={`webhooks/${id}`}
      fields={useWebhookFields(types)}
      record={webhook}
      update={(body, ifMatch) => client.webhooks.update(id, body, { ifMatch })}
      read={() => client.webhooks.get(id)}
      onSaved={(saved) => {
        result.replace(saved);
        onEnd();
      }}
      onCancel={onEnd}
    />
  );
}

interface WebhookActionsProps {
  readonly id: string;
  readonly onEdit: () => void;
  readonly onSecret: (secret: string | undefined) => void;
}

function WebhookActions({ id, onEdit, onSecret }: WebhookActionsProps) {
  const { client } = useSignedIn();
  const remove = async () => {
    await client.webhooks.delete(id);
    announce(texts.form.deleted);
    navigate('webhooks');
  };
  const rotate = async () => {
    onSecret((await client.webhooks.rotateSecret(id)).secret);
  };
  return (
    <>
      <button type="button" class="primary" onClick={onEdit}>
        {texts.form.edit}
      </button>
      <ConfirmButton
        label={texts.webhooks.rotate}
        title={texts.webhooks.rotateTitle}
        text={texts.webhooks.rotateText}
        onConfirm={rotate}
      />
      <ConfirmButton
        label={texts.form.delete}
        title={texts.webhooks.deleteTitle}
        text={texts.webhooks.deleteText}
        onConfirm={remove}
      />
    </>
  );
}

const { labels } = texts.webhooks;

function WebhookDetails({ webhook }: { webhook: Webhook }) {
  return (
    <>
      <Details fields={useWebhookFields(webhook.types)} record={webhook} />
      <dl>
        <dt>{labels.state}</dt>
        <dd>
          <WebhookState webhook={webhook} />
        </dd>
        {webhook.previous_secret_expires_at !== null && (
          <>
            <dt>{labels.previous_secret_expires_at}</dt>
            <dd>
              <Time value={webhook.previous_secret_expires_at} />
            </dd>
          </>
        )}
        <dt>{labels.created_at}</dt>
        <dd>
          <Time value={webhook.created_at} />
        </dd>
        <dt>{texts.webhooks.id}</dt>
        <dd>
          <Value value={webhook.id} />
        </dd>
      </dl>
    </>
  );
}
