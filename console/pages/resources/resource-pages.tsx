import type { BookableResource, BookableResourceCreate } from 'latitude/client';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Time, ZONE } from '../../components/time.js';
import { Timeline } from '../../components/timeline.js';
import { Details } from '../../forms/details.js';
import { RecordForm } from '../../forms/record-form.js';
import { announce } from '../../state/announce.js';
import { type Result, useQuery } from '../../state/query.js';
import { navigate } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import type { ViewProps } from '../../views.js';
import { Calendars } from './calendars.js';
import { RESOURCE_FIELDS } from './resource-fields.js';

const WORKDAY = [{ start: '09:00', end: '17:00' }];
const NEW = {
  time_zone: ZONE,
  hours: {
    monday: WORKDAY,
    tuesday: WORKDAY,
    wednesday: WORKDAY,
    thursday: WORKDAY,
    friday: WORKDAY,
  },
  buffer_before_minutes: 0,
  buffer_after_minutes: 0,
  active: true,
};

/** Makes a resource. */
export function NewResourcePage() {
  const { client } = useSignedIn();
  return (
    <Page title={texts.resources.create}>
      <RecordForm<BookableResource>
        name="resources/new"
        fields={RESOURCE_FIELDS}
        initial={NEW}
        create={(body, idempotencyKey) =>
          client.resources.create(body as BookableResourceCreate, { idempotencyKey })
        }
        onSaved={({ id }) => {
          navigate(`resources/${id}`);
        }}
        onCancel={() => {
          navigate('resources');
        }}
      />
    </Page>
  );
}

/** A resource with its calendars. */
export function ResourcePage({ segments }: ViewProps) {
  const [, id = ''] = segments;
  const may = useMay();
  const result = useQuery(`resource ${id}`, (client, signal) =>
    client.resources.get(id, { signal }),
  );
  const [isEditing, setEditing] = useState(false);
  return (
    <Page
      title={result.data?.name ?? texts.resources.one}
      actions={
        <Actions
          id={id}
          mayWrite={result.data !== undefined && may('resources:write') && !isEditing}
          onEdit={() => {
            setEditing(true);
          }}
        />
      }
    >
      <Loaded of={result}>
        {(resource) => (
          <div class="columns">
            <section class="card">
              {isEditing ? (
                <Editing
                  resource={resource}
                  result={result}
                  onEnd={() => {
                    setEditing(false);
                  }}
                />
              ) : (
                <Shown resource={resource} />
              )}
            </section>
            <div>
              <Calendars resourceId={id} />
              {may('events:read') && (
                <Timeline
                  id={id}
                  updatedAt={resource.updated_at}
                  read={(client, query, signal) => client.resources.events(id, query, { signal })}
                />
              )}
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

interface ActionsProps {
  readonly id: string;
  readonly mayWrite: boolean;
  readonly onEdit: () => void;
}

function Actions({ id, mayWrite, onEdit }: ActionsProps) {
  const { client } = useSignedIn();
  const remove = async () => {
    await client.resources.delete(id);
    announce(texts.form.deleted);
    navigate('resources');
  };
  return (
    <>
      {mayWrite && (
        <button type="button" class="primary" onClick={onEdit}>
          {texts.form.edit}
        </button>
      )}
      <Link to="appointments" query={{ resource: id }} class="button">
        {texts.resources.schedule}
      </Link>
      {mayWrite && (
        <ConfirmButton
          label={texts.form.delete}
          title={texts.resources.deleteTitle}
          text={texts.resources.deleteText}
          onConfirm={remove}
        />
      )}
    </>
  );
}

interface EditingProps {
  readonly resource: BookableResource;
  readonly result: Result<BookableResource>;
  readonly onEnd: () => void;
}

function Editing({ resource, result, onEnd }: EditingProps) {
  const { client } = useSignedIn();
  const { id } = resource;
  return (
    <RecordForm<BookableResource>
      name={`resources/${id}`}
      fields={RESOURCE_FIELDS}
      record={resource}
      update={(body, ifMatch) => client.resources.update(id, body, { ifMatch })}
      read={() => client.resources.get(id)}
      onSaved={(saved) => {
        result.replace(saved);
        onEnd();
      }}
      onCancel={onEnd}
    />
  );
}

const { labels } = texts.resources;

function Shown({ resource }: { resource: BookableResource }) {
  return (
    <>
      <Details fields={RESOURCE_FIELDS} record={resource} />
      <dl>
        <dt>{labels.created_at}</dt>
        <dd>
          <Time value={resource.created_at} />
        </dd>
        <dt>{labels.updated_at}</dt>
        <dd>
          <Time value={resource.updated_at} />
        </dd>
        <dt>{labels.id}</dt>
        <dd>{resource.id}</dd>
      </dl>
    </>
  );
}
