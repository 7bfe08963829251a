import { UUID } from '../../fields/kinds/uuid.js';

/** The place of a record in a list in the order of creation. */
export interface Cursor {
  readonly createdAt: Date;
  readonly id: string;
}

/** SQL of the cursor of a row, for `parseCursor`. */
export const CURSOR_SQL = `(extract(epoch from created_at) * 1000)::bigint || '_' || id`;

const PARTS = /^(-?\d{1,15})_(.+)$/;

/** @returns undefined if the text is no cursor */
export function parseCursor(text: string): Cursor | undefined {
  const [, ms = '', id = ''] = PARTS.exec(text) ?? [];
  const createdAt = new Date(Number(ms));
  const year = createdAt.getUTCFullYear();
  return UUID.test(id) && year >= 1 && year <= 9_999 ? { createdAt, id } : undefined;
}
