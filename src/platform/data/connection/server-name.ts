import { randomUUID } from 'node:crypto';

/** Returns a unique name for the database connections of a server. */
export function nameOfServer(): string {
  return `latitude server ${randomUUID().slice(0, 8)}`;
}
