import type { CustomField, CustomFieldCreate } from 'latitude/client';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Details } from '../../forms/details.js';
import { RecordForm } from '../../forms/record-form.js';
import { announce } from '../../state/announce.js';
import { type Result, useQuery } from '../../state/query.js';
import { navigate } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import type { ViewProps } from '../../views.js';
import { fieldSpecs } from './field-specs.js';
import { Misfits } from './misfits.js';

const NEW = { type: 'text', required: false, unique: false, filterable: false };

/** Makes a definition, or only checks whether the stored leads fit. */
export function NewFieldPage() {
  const { client } = useSignedIn();
  return (
    <Page title={texts.fields.create}>
      <RecordForm<CustomField>
        name="fields/new"
        fields={fieldSpecs()}
        initial={NEW}
        create={(body, idempotencyKey) =>
          client.customFields.create(body as CustomFieldCreate, { idempotencyKey })
        }
        check={(body) =>
          client.customFields.create({ ...body, dry_run: true } as CustomFieldCreate)
        }
        explain={(error) => <Misfits error={error} />}
        onSaved={({ id }) => {
          navigate(`fields/${id}`);
        }}
        onCancel={() => {
          navigate('fields');
        }}
      />
    </Page>
  );
}

/** A definition. */
export function FieldPage({ segments }: ViewProps) {
  const [, id = ''] = segments;
  const { client } = useSignedIn();
  const mayWrite = useMay()('fields:write');
  const result = useQuery(`field ${id}`, (api, signal) => api.customFields.get(id, { signal }));
  const [isEditing, setEditing] = useState(false);
  const remove = async () => {
    await client.customFields.delete(id);
    announce(texts.form.deleted);
    navigate('fields');
  };
  const actions = result.data && mayWrite && !isEditing && (
    <>
      <button
        type="button"
        class="primary"
        onClick={() => {
          setEditing(true);
        }}
      >
        {texts.form.edit}
      </button>
      <ConfirmButton
        label={texts.form.delete}
        title={texts.fields.deleteTitle}
        text={texts.fields.deleteText}
        onConfirm={remove}
      />
    </>
  );
  return (
    <Page title={result.data?.key ?? texts.fields.one} actions={actions}>
      <Loaded of={result}>
        {(field) =>
          isEditing ? (
            <Editing
              field={field}
              result={result}
              onEnd={() => {
                setEditing(false);
              }}
            />
          ) : (
            <section class="card">
              <Details fields={fieldSpecs(field)} record={field} />
            </section>
          )
        }
      </Loaded>
    </Page>
  );
}

interface EditingProps {
  readonly field: CustomField;
  readonly result: Result<CustomField>;
  readonly onEnd: () => void;
}

function Editing({ field, result, onEnd }: EditingProps) {
  const { client } = useSignedIn();
  const { id } = field;
  return (
    <RecordForm<CustomField>
      name={`fields/${id}`}
      fields={fieldSpecs(field)}
      record={field}
      update={(body, ifMatch) => client.customFields.update(id, body, { ifMatch })}
      read={() => client.customFields.get(id)}
      check={(body) => client.customFields.update(id, { ...body, dry_run: true })}
      explain={(error) => <Misfits error={error} />}
      onSaved={(saved) => {
        result.replace(saved);
        onEnd();
      }}
      onCancel={onEnd}
    />
  );
}
