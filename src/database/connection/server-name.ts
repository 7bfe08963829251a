import { randomUUID } from 'node:crypto';

/** Returns the name of the database connections of a server. No other server has the same. */
export function nameOfServer(): string {
  return `latitude server ${randomUUID().slice(0, 8)}`;
}
