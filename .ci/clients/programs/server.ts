import { randomUUID } from 'node:crypto';

/** The running server, and a key that has every scope. */
export const BASE_URL = process.env.BASE_URL!;
export const API_KEY = process.env.API_KEY!;

/** An e-mail address that no lead has yet. */
export function newEmail(): string {
  return `${randomUUID()}@example.com`;
}
