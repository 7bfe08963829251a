import { SCOPES } from '../auth/scopes.js';
import type { ClaimedJob } from '../database/jobs/job-worker.repository.js';
import type { Actor } from '../tenancy/actor.js';

/** The actor of a job: its organization, with every scope and without a user. */
export function actorOf(job: ClaimedJob): Actor {
  return {
    organization: {
      id: job.organization_id,
      name: job.organization_name,
      phoneRegion: job.phone_region,
    },
    key: { id: job.id, name: `job ${job.name}`, expiresAt: null, userId: null },
    scopes: new Set(SCOPES),
    channel: 'api',
  };
}
