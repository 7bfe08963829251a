import type { INestApplicationContext } from '@nestjs/common';
import { KeysService } from './auth/keys.service.js';
import { SCOPES } from './auth/scopes.js';

/**
 * On an empty database makes an organization with a key, which is shown this once
 * (docs/contract/running.md#start).
 * @returns what to print, or undefined where there are keys already
 */
export async function createFirstKey(
  app: INestApplicationContext,
  url: string,
): Promise<string | undefined> {
  const keys = app.get(KeysService);
  const [existing, ...others] = await keys.listOrganizations();
  // An organization without keys is what an interrupted first start leaves.
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
