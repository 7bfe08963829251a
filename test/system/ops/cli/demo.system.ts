import { Command } from 'commander';
import { KeysService } from '../../../../src/modules/auth/keys.service.js';
import { addDemo } from '../../../../src/ops/cli/demo.js';
import { STOP_SIGNALS } from '../../../../src/platform/config/stop-signals.js';
import type { Progress } from '../../../../src/platform/extension/command.js';
import { LeadsService } from '../../../../src/modules/leads/leads.service.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { recordTables } from '../../../support/database/tenant-tables.js';

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.stop());

/** Runs `latitude demo` in this process. */
async function demo(leads: number, progress: Progress = (_, work) => work(() => undefined)) {
  const program = new Command();
  addDemo(program, async (action) => {
    await action(app.app, progress);
  });
  await program.parseAsync(['demo', '--leads', String(leads)], { from: 'user' });
}

async function expectNothingLeft(): Promise<void> {
  expect(await app.app.get(KeysService).listOrganizations()).toEqual([]);
  for (const table of [...(await recordTables(app)), 'api_keys']) {
    expect([table, await app.sql(`select from ${table}`)]).toEqual([table, []]);
  }
}

describe('latitude demo', () => {
  it('leaves no data when it fails', async () => {
    await app.sql('alter table tasks add constraint no_tasks check (false)');
    await expect(demo(3)).rejects.toMatchObject({ code: 'create_failed' });
    await app.sql('alter table tasks drop constraint no_tasks');
    await expectNothingLeft();
  });

  it.each(STOP_SIGNALS)('leaves no data after %s', async (signal) => {
    const interrupted = demo(2_000, (_, work) =>
      work((count) => {
        expect(count).toBe(1_000);
        process.emit(signal, signal);
      }),
    );
    await expect(interrupted).rejects.toThrow(`${signal}: the sample data was removed.`);
    await expectNothingLeft();
    expect(process.listenerCount(signal)).toBe(0);
  });

  it('leaves no data if the signal comes before the first records', async () => {
    const keys = app.app.get(KeysService);
    const createOrganization = keys.createOrganization.bind(keys);
    const creation = jest.spyOn(keys, 'createOrganization').mockImplementation((name) => {
      process.emit('SIGINT', 'SIGINT');
      return createOrganization(name);
    });
    const addition = jest.spyOn(app.app.get(LeadsService), 'createMany');
    await expect(demo(1)).rejects.toThrow('SIGINT: the sample data was removed.');
    expect(addition).not.toHaveBeenCalled();
    creation.mockRestore();
    addition.mockRestore();
    await expectNothingLeft();
  });
});
