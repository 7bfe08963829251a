import type { INestApplicationContext } from '@nestjs/common';
import type { Organization } from '../../modules/auth/organization.entity.js';
import { KeysService } from '../../modules/auth/keys.service.js';
import type { TenantCall } from '../../platform/data/call.js';
import type { Progress } from '../../platform/extension/command.js';

/** Does work for one organization after another. @returns the results */
export async function eachOrganization<T>(
  app: INestApplicationContext,
  work: (call: TenantCall, organization: Organization) => Promise<T>,
  progress: Progress = (_, withoutProgress) => withoutProgress(() => undefined),
): Promise<T[]> {
  const organizations = await app.get(KeysService).listOrganizations();
  const results: T[] = [];
  await progress(organizations.length, async (advance) => {
    for (const organization of organizations) {
      results.push(await work({ tenant: { id: organization.id } }, organization));
      advance(1);
    }
  });
  return results;
}
