import { Injectable, Module } from '@nestjs/common';
import {
  Cron,
  CronExpression,
  Interval,
  ScheduleModule,
  SchedulerRegistry,
  Timeout,
} from '@nestjs/schedule';
import { rootModule } from '../../../../src/app.module.js';
import { createCommandApp } from '../../../../src/ops/cli/run.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { TEST_SETTINGS } from '../../../../src/testing/test-settings.mjs';
import { readSettings } from '../../../../src/platform/config/settings.js';
import { untilTrue } from '../../../support/mcp/mcp-helpers.js';

/** What the methods of the module did, in order. */
let calls: string[];

beforeEach(() => {
  calls = [];
});

@Injectable()
class Reminders {
  @Cron(CronExpression.EVERY_SECOND)
  cron() {
    calls.push('cron');
  }

  @Interval(10)
  interval() {
    calls.push('interval');
  }

  @Timeout(10)
  timeout() {
    calls.push('timeout');
  }

  onModuleInit() {
    calls.push('onModuleInit');
  }

  onApplicationBootstrap() {
    calls.push('onApplicationBootstrap');
  }
}

@Module({ imports: [ScheduleModule.forRoot()], providers: [Reminders] })
class RemindersModule {}

const timersOf = (registry: SchedulerRegistry) => [
  ...registry.getCronJobs().keys(),
  ...registry.getIntervals(),
  ...registry.getTimeouts(),
];

describe('@Cron, @Interval and @Timeout of @nestjs/schedule', () => {
  it('run in a server', async () => {
    const app = await TestApp.start({ modules: [RemindersModule] });
    await untilTrue(() => ['cron', 'interval', 'timeout'].every((name) => calls.includes(name)));
    await app.stop();
  });

  it('do not run in a command, unlike the hooks of the module', async () => {
    const database = await createDatabase();
    const settings = { ...readSettings({ LOG_LEVEL: 'silent' }), ...TEST_SETTINGS };
    const root = rootModule({ settings, database, modules: [RemindersModule] });
    const command = await createCommandApp(root);
    expect(timersOf(command.get(SchedulerRegistry))).toEqual([]);
    expect(calls).toEqual(['onModuleInit', 'onApplicationBootstrap']);
    await command.close();
    await dropDatabase(database);
  });
});
