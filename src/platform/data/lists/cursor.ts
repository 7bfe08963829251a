import { UUID } from '../../fields/kinds/uuid.js';

/** The place of a record in a list in the order of a time, such as that of its creation. */
export interface Cursor {
  readonly time: Date;
  readonly id: string;
}

/** SQL of the cursor of a row, for `parseCursor`. @param column with the time */
export function cursorSql(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::bigint || '_' || id`;
}

const PARTS = /^(-?\d{1,15})_(.+)$/;

/** @returns undefined if the text is no cursor */
export function parseCursor(text: string): Cursor | undefined {
  const [, ms = '', id = ''] = PARTS.exec(text) ?? [];
  const time = new Date(Number(ms));
  const year = time.getUTCFullYear();
  return UUID.test(id) && year >= 1 && year <= 9_999 ? { time, id } : undefined;
}
