import type { Tenant } from '../../src/testing/test-server.js';

export const JSON_HEADER = ['Content-Type', 'application/json'];
export const CHUNKED = ['Transfer-Encoding', 'chunked'];

/** Headers of a raw request with the key of a tenant. */
export function keyHeaders({ key }: Tenant): string[] {
  return ['Host', 'a', 'Authorization', `Bearer ${key.key}`];
}
