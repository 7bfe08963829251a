import type { Appointment, BookableResource, LatitudeError } from 'latitude/client';
import { useState } from 'preact/hooks';
import { Dialog } from '../../components/dialog.js';
import { Failure } from '../../components/loaded.js';
import { ZONE } from '../../components/time.js';
import { useConflicts } from '../../forms/conflict-dialog.js';
import { saveChanges } from '../../forms/save.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { useBookingFields } from './appointment-fields.js';
import { FreeProposals, SlotText } from './free-proposals.js';
import type { Slot } from './schedule.js';

interface MoveDialogProps {
  readonly appointment: Appointment;
  readonly slot: Slot;
  readonly resources: readonly BookableResource[];
  readonly onMoved: () => void;
  readonly onClose: () => void;
}

/** Moves an appointment to a free time. If somebody else has moved it meanwhile, it asks. */
export function MoveDialog({ appointment, slot, resources, onMoved, onClose }: MoveDialogProps) {
  const { client } = useSignedIn();
  const [to, setTo] = useState(slot);
  const [error, setError] = useState<LatitudeError>();
  const [isBusy, setBusy] = useState(false);
  const { choose, dialog } = useConflicts(useBookingFields());
  const resourceOf = (id: string | null) => resources.find((resource) => resource.id === id);
  const move = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { id } = appointment;
      const { start_time, end_time, resource_id } = to;
      const moved = await saveChanges<Appointment>({
        base: appointment,
        changes: new Map(Object.entries({ start_time, end_time, resource_id })),
        update: (body, ifMatch) => client.appointments.update(id, body, { ifMatch }),
        read: () => client.appointments.get(id),
        choose,
      });
      if (moved) onMoved();
    } catch (failure) {
      setError(failure as LatitudeError);
    } finally {
      setBusy(false);
    }
  };
  const { start_time, end_time, resource_id } = appointment;
  const before = { start_time, end_time, resource_id: resource_id ?? '' };
  return (
    <Dialog title={texts.appointments.move} onClose={onClose}>
      <dl>
        <dt>{texts.appointments.from}</dt>
        <dd>
          <SlotText slot={before} resource={resourceOf(resource_id)} />
        </dd>
        <dt>{texts.appointments.to}</dt>
        <dd>
          <SlotText slot={to} resource={resourceOf(to.resource_id)} />
        </dd>
      </dl>
      <p class="hint">{texts.zone(ZONE)}</p>
      {error && (
        <Failure error={error} title={texts.form.failed}>
          <FreeProposals error={error} resources={resources} onChoose={setTo} />
        </Failure>
      )}
      <div class="actions">
        <button type="button" class="primary" disabled={isBusy} onClick={() => void move()}>
          {texts.appointments.move}
        </button>
        <button type="button" onClick={onClose}>
          {texts.form.cancel}
        </button>
      </div>
      {dialog}
    </Dialog>
  );
}
