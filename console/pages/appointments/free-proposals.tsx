import type { BookableResource, LatitudeError } from 'latitude/client';
import { ZONE } from '../../components/time.js';
import { texts } from '../../texts.js';
import { clockOf, longDayOf } from './days.js';
import type { Slot } from './schedule.js';

interface FreeProposalsProps {
  readonly error: LatitudeError;
  readonly resources: readonly BookableResource[];
  readonly onChoose: (slot: Slot) => void;
}

/** The free times that a refusal names. */
export function FreeProposals({ error, resources, onChoose }: FreeProposalsProps) {
  const free = error.details.flatMap((detail) => detail.free ?? []);
  if (error.code !== 'slot_taken') return null;
  if (free.length === 0) return <p>{texts.appointments.noneFree}</p>;
  const resourceOf = (id: string) => resources.find((resource) => resource.id === id);
  return (
    <>
      <p>{texts.appointments.proposals}</p>
      <div class="actions">
        {free.map((slot) => (
          <button
            key={slot.start_time + slot.resource_id}
            type="button"
            onClick={() => {
              onChoose(slot);
            }}
          >
            <SlotText slot={slot} resource={resourceOf(slot.resource_id)} />
          </button>
        ))}
      </div>
    </>
  );
}

interface SlotTextProps {
  readonly slot: Slot;
  readonly resource: BookableResource | undefined;
}

/** A time of a resource, also in its zone if that is another one. */
export function SlotText({ slot, resource }: SlotTextProps) {
  const { start_time: start, end_time: end } = slot;
  return (
    <>
      {longDayOf(start)}, {clockOf(start)}–{clockOf(end)}
      {resource && (
        <>
          , <bdi>{resource.name}</bdi>
          {resource.time_zone !== ZONE &&
            ` (${texts.appointments.inZone(clockOf(start, resource.time_zone), resource.time_zone)})`}
        </>
      )}
    </>
  );
}
