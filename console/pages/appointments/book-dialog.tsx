import type { Appointment, AppointmentCreate, BookableResource } from 'latitude/client';
import { Dialog } from '../../components/dialog.js';
import { ZONE } from '../../components/time.js';
import { RecordForm } from '../../forms/record-form.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { LEAD_FIELD, useBookingFields } from './appointment-fields.js';
import { FreeProposals, SlotText } from './free-proposals.js';
import type { Slot } from './schedule.js';

interface BookDialogProps {
  readonly slot: Slot;
  readonly resources: readonly BookableResource[];
  readonly onBooked: (appointment: Appointment) => void;
  readonly onClose: () => void;
}

/** Books a free time for a lead. */
export function BookDialog({ slot, resources, onBooked, onClose }: BookDialogProps) {
  const { client } = useSignedIn();
  const fields = useBookingFields();
  const resource = resources.find(({ id }) => id === slot.resource_id);
  return (
    <Dialog title={texts.appointments.book} onClose={onClose}>
      <p>
        <SlotText slot={slot} resource={resource} />
      </p>
      <p class="hint">{texts.zone(ZONE)}</p>
      <RecordForm<Appointment>
        name={`appointments/new ${slot.resource_id} ${slot.start_time}`}
        fields={[LEAD_FIELD, ...fields]}
        initial={slot}
        create={(body, idempotencyKey) =>
          client.appointments.create(body as AppointmentCreate, { idempotencyKey })
        }
        explain={(error, fill) => (
          <FreeProposals error={error} resources={resources} onChoose={fill} />
        )}
        onSaved={onBooked}
        onCancel={onClose}
        submit={texts.appointments.book}
      />
    </Dialog>
  );
}
