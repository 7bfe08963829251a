import type { INestApplicationContext } from '@nestjs/common';
import { OrganizationCalls } from '../access/organization-calls.service.js';
import type { Call } from '../data/call.js';
import { orNotFound } from '../errors/or-not-found.js';

const CALLER = 'command line';

/**
 * The call of a command in an organization, with every scope.
 * @throws ApiError `not_found`
 */
export async function commandCallOf(app: INestApplicationContext, id: string): Promise<Call> {
  const found = await app.get(OrganizationCalls).find(id, CALLER);
  const call = orNotFound(found, 'organization');
  // It has no key that could end.
  const key = { ...call.actor.key, subject: CALLER };
  return { ...call, actor: { ...call.actor, key } };
}
