import type { INestApplicationContext } from '@nestjs/common';
import { KeysService } from '../../modules/auth/keys.service.js';
import { SCOPES } from '../../platform/access/scopes.js';

/**
 * Creates an organization and a key if the database has none (docs/contract/running.md#start).
 * @returns a message for the terminal with the key; undefined if the database has keys already
 */
export async function createFirstKey(
  app: INestApplicationContext,
  url: string,
): Promise<string | undefined> {
  const keys = app.get(KeysService);
  const [existing, ...others] = await keys.listOrganizations();
  // An interrupted first startup leaves an organization without keys.
  if (others.length > 0 || (existing && (await keys.listKeys(existing.id)).length > 0)) return;
  const organization = existing ?? (await keys.createOrganization('My organization'));
  const { key } = await keys.createKey({
    organizationId: organization.id,
    name: 'First key',
    scopes: SCOPES,
  });
  return `
Your organization: ${organization.id}
Your API key, shown only now: ${key}

Create your first lead:

curl -X POST ${url}/api/v1/leads -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com"}'

`;
}
