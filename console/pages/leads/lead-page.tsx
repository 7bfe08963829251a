import { etagOf, type Lead } from 'latitude/client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { leadName } from '../../components/lead-name.js';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Time } from '../../components/time.js';
import { Timeline } from '../../components/timeline.js';
import { Details } from '../../forms/details.js';
import { announce } from '../../state/announce.js';
import { draftOf } from '../../state/drafts.js';
import { type Result, useQuery } from '../../state/query.js';
import { navigate } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import type { ViewProps } from '../../views.js';
import { customFieldSpecs, LEAD_FIELDS, useCustomFields } from './lead-fields.js';
import { leadDraft, LeadForm } from './lead-form.js';
import { LeadAppointments, LeadTasks } from './lead-records.js';

/** A lead with what belongs to it. */
export function LeadPage({ segments }: ViewProps) {
  const [, id = ''] = segments;
  const may = useMay();
  const lead = useQuery(`lead ${id}`, (client, signal) => client.leads.get(id, { signal }));
  const [isEditing, setEditing] = useState(draftOf(leadDraft(id)) !== undefined);
  const { data } = lead;
  const actions = data && may('leads:write') && !isEditing && (
    <LeadActions
      lead={data}
      onEdit={() => {
        setEditing(true);
      }}
    />
  );
  return (
    <Page title={data ? leadName(data) : texts.leads.title} actions={actions}>
      <Loaded of={lead}>
        {(shown) => (
          <div class="columns">
            <section class="card">
              {isEditing ? (
                <Editing
                  lead={shown}
                  result={lead}
                  onEnd={() => {
                    setEditing(false);
                  }}
                />
              ) : (
                <LeadDetails lead={shown} />
              )}
            </section>
            <div>
              {may('appointments:read') && <LeadAppointments leadId={id} />}
              {may('tasks:read') && <LeadTasks leadId={id} />}
              {may('events:read') && (
                <Timeline
                  id={id}
                  updatedAt={shown.updated_at}
                  read={(client, query, signal) => client.leads.events(id, query, { signal })}
                />
              )}
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

interface EditingProps {
  readonly lead: Lead;
  readonly result: Result<Lead>;
  readonly onEnd: () => void;
}

function Editing({ lead, result, onEnd }: EditingProps) {
  return (
    <LeadForm
      lead={lead}
      onSaved={(saved) => {
        result.replace(saved);
        onEnd();
      }}
      onCancel={onEnd}
    />
  );
}

function LeadActions({ lead, onEdit }: { lead: Lead; onEdit: () => void }): ComponentChildren {
  const { client } = useSignedIn();
  const remove = async () => {
    const tag = etagOf(lead);
    await client.leads.delete(lead.id, tag === undefined ? {} : { ifMatch: tag });
    announce(texts.form.deleted);
    navigate('leads');
  };
  return (
    <>
      <button type="button" class="primary" onClick={onEdit}>
        {texts.form.edit}
      </button>
      <Link to={`leads/${lead.id}/merge`} class="button">
        {texts.merge.action}
      </Link>
      <ConfirmButton
        label={texts.form.delete}
        title={texts.leads.deleteTitle}
        text={texts.leads.deleteText}
        onConfirm={remove}
      />
    </>
  );
}

const { labels } = texts.leads;

function LeadDetails({ lead }: { lead: Lead }) {
  const custom = customFieldSpecs(useCustomFields(), lead);
  return (
    <>
      <Details fields={LEAD_FIELDS} record={lead} />
      <dl>
        <dt>{labels.lead_score}</dt>
        <dd>{lead.lead_score}</dd>
        <dt>{labels.created_at}</dt>
        <dd>
          <Time value={lead.created_at} />
        </dd>
        <dt>{labels.updated_at}</dt>
        <dd>
          <Time value={lead.updated_at} />
        </dd>
        <dt>{texts.leads.id}</dt>
        <dd>{lead.id}</dd>
      </dl>
      {custom.length > 0 && (
        <>
          <h2>{texts.leads.custom}</h2>
          <Details fields={custom} record={lead} />
        </>
      )}
    </>
  );
}
