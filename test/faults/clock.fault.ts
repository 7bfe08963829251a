import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { ApiClient } from '../../src/testing/api-client.js';
import { createLead, LEADS, updateLead } from '../../src/testing/factories.js';
import { Clock, CLOCK_SKIP_REASON } from './support/clock.js';
import { expectRecovery } from './support/recovery.js';
import { describeUnless } from './support/describe-unless.js';
import { FaultEnvironment } from './support/environment.js';

// Broken on purpose for docs/operating/runbook.md#keys-or-sign-ins-are-refused

const HOUR_MS = 3_600_000;
const WINDOW_MS = 60_000;

describeUnless(CLOCK_SKIP_REASON, 'the clock of the machine', () => {
  let directory: string;
  let clock: Clock;
  let environment: FaultEnvironment;

  beforeAll(async () => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-clock-'));
    clock = new Clock(directory);
    environment = await FaultEnvironment.start(await clock.startPostgres(), clock.env);
  });
  afterAll(async () => {
    await environment.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each([
    ['clock one hour ahead, then corrected', 1],
    ['clock one hour behind, then corrected', -1],
  ])('%s', async (name, hours) => {
    const jump = async () => {
      const api = new ApiClient(environment.url, environment.key);
      const old = await createLead(api);
      clock.set(hours);
      const lead = await createLead(api);
      const jumped = Date.parse(lead.created_at) - Date.parse(old.created_at);
      expect(Math.round(jumped / HOUR_MS)).toBe(hours);
      const changed = await updateLead(api, old.id, { company: 'C' });
      expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(old.updated_at));
      const { headers } = await api.get(LEADS);
      const windowLeft = Number(headers.get('RateLimit-Reset')) * 1_000 - Date.now();
      expect(windowLeft - hours * HOUR_MS).toBeGreaterThan(0);
      expect(windowLeft - hours * HOUR_MS).toBeLessThanOrEqual(WINDOW_MS + 1_000);
      await after(1_000);
      clock.set(0);
    };
    await expectRecovery(environment, name, jump, { expectImpact: false });
  });
});
