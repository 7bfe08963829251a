import { randomUUID } from 'node:crypto';

/** The address of the running server, and a key with every scope. */
export const BASE_URL = process.env.BASE_URL!;
export const API_KEY = process.env.API_KEY!;

/** @returns an unused e-mail address */
export function newEmail(): string {
  return `${randomUUID()}@example.com`;
}
