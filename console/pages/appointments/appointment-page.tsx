import { type Appointment, etagOf } from 'latitude/client';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Time } from '../../components/time.js';
import { Timeline } from '../../components/timeline.js';
import { Details } from '../../forms/details.js';
import { RecordForm } from '../../forms/record-form.js';
import { announce } from '../../state/announce.js';
import { draftOf } from '../../state/drafts.js';
import { type Result, useQuery } from '../../state/query.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import type { ViewProps } from '../../views.js';
import { LEAD_FIELD, useAppointmentFields } from './appointment-fields.js';
import { dateOf } from './days.js';
import { FreeProposals } from './free-proposals.js';

const draftName = (id: string) => `appointments/${id}`;

/** An appointment: its fields, changes, and who changed it. */
export function AppointmentPage({ segments }: ViewProps) {
  const [, id = ''] = segments;
  const may = useMay();
  const result = useQuery(`appointment ${id}`, (client, signal) =>
    client.appointments.get(id, { signal }),
  );
  const [isEditing, setEditing] = useState(draftOf(draftName(id)) !== undefined);
  const { data } = result;
  const mayChange = may('appointments:write') && !isEditing;
  return (
    <Page
      title={data?.type ?? texts.appointments.one}
      actions={
        data &&
        mayChange && (
          <Actions
            appointment={data}
            onCancelled={result.reload}
            onEdit={() => {
              setEditing(true);
            }}
          />
        )
      }
    >
      <Loaded of={result}>
        {(shown) => (
          <div class="columns">
            <section class="card">
              {isEditing ? (
                <Editing
                  appointment={shown}
                  result={result}
                  onEnd={() => {
                    setEditing(false);
                  }}
                />
              ) : (
                <Shown appointment={shown} />
              )}
            </section>
            {may('events:read') && (
              <Timeline
                id={id}
                updatedAt={shown.updated_at}
                read={(client, query, signal) => client.appointments.events(id, query, { signal })}
              />
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

interface ActionsProps {
  readonly appointment: Appointment;
  readonly onEdit: () => void;
  readonly onCancelled: () => void;
}

function Actions({ appointment, onEdit, onCancelled }: ActionsProps) {
  const { client } = useSignedIn();
  const { id, start_time: start, status } = appointment;
  const cancel = async () => {
    const tag = etagOf(appointment);
    await client.appointments.cancel(id, tag === undefined ? {} : { ifMatch: tag });
    announce(texts.appointments.cancelled);
    onCancelled();
  };
  return (
    <>
      <button type="button" class="primary" onClick={onEdit}>
        {texts.form.edit}
      </button>
      <Link to="appointments" query={{ move: id, date: dateOf(new Date(start)) }} class="button">
        {texts.appointments.move}
      </Link>
      {status !== 'cancelled' && (
        <ConfirmButton
          label={texts.appointments.cancel}
          title={texts.appointments.cancelTitle}
          text={texts.appointments.cancelText}
          onConfirm={cancel}
        />
      )}
    </>
  );
}

interface EditingProps {
  readonly appointment: Appointment;
  readonly result: Result<Appointment>;
  readonly onEnd: () => void;
}

function Editing({ appointment, result, onEnd }: EditingProps) {
  const { client } = useSignedIn();
  const { id } = appointment;
  return (
    <RecordForm<Appointment>
      name={draftName(id)}
      fields={useAppointmentFields()}
      record={appointment}
      update={(body, ifMatch) => client.appointments.update(id, body, { ifMatch })}
      read={() => client.appointments.get(id)}
      explain={(error, fill) => <FreeProposals error={error} resources={[]} onChoose={fill} />}
      onSaved={(saved) => {
        result.replace(saved);
        onEnd();
      }}
      onCancel={onEnd}
    />
  );
}

const { labels } = texts.appointments;

function Shown({ appointment }: { appointment: Appointment }) {
  return (
    <>
      <Details fields={[LEAD_FIELD, ...useAppointmentFields()]} record={appointment} />
      <dl>
        <dt>{labels.booked_by}</dt>
        <dd>{texts.appointments.bookedBy[appointment.booked_by]}</dd>
        <dt>{labels.created_at}</dt>
        <dd>
          <Time value={appointment.created_at} />
        </dd>
        <dt>{labels.updated_at}</dt>
        <dd>
          <Time value={appointment.updated_at} />
        </dd>
        <dt>{labels.id}</dt>
        <dd>{appointment.id}</dd>
      </dl>
    </>
  );
}
