import { UUID } from '../../platform/fields/kinds/uuid.js';

const US_PER_MS = 1_000;
const ZEROS = '-8000-000000000000';

/**
 * The id of the event at a position: a UUID of version 7, whose time is the position.
 * @param position microseconds since 1970
 */
export function eventIdOf(position: number): string {
  const ms = Math.floor(position / US_PER_MS);
  const time = ms.toString(16).padStart(12, '0');
  const rest = (position % US_PER_MS).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest}${ZEROS}`;
}

/** @returns the position in an id of an event; undefined for any other string */
export function positionOf(id: string): number | undefined {
  if (!UUID.test(id)) return undefined;
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  const position = ms * US_PER_MS + Number.parseInt(id.slice(15, 18), 16);
  return Number.isSafeInteger(position) && eventIdOf(position) === id.toLowerCase()
    ? position
    : undefined;
}
