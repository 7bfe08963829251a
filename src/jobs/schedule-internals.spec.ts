import { Injectable, Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, NestFactory } from '@nestjs/core';
import { Cron, Interval, ScheduleModule, Timeout } from '@nestjs/schedule';
import { orchestratorsOf } from './schedule-internals.js';

@Injectable()
class Reminders {
  @Cron('0 0 1 1 *', { name: 'yearly' })
  cron() {
    return 'cron';
  }

  @Interval('often', 1_000_000)
  interval() {
    return 'interval';
  }

  @Timeout('once', 1_000_000)
  timeout() {
    return 'timeout';
  }
}

@Module({ imports: [DiscoveryModule, ScheduleModule.forRoot()], providers: [Reminders] })
class RemindersModule {}

it('@nestjs/schedule has a SchedulerOrchestrator with the targets of all timers', async () => {
  const app = await NestFactory.createApplicationContext(RemindersModule, { logger: false });
  const [orchestrator, ...others] = orchestratorsOf(app.get(DiscoveryService));
  await app.close();
  expect(others).toEqual([]);
  expect(orchestrator).toMatchObject({
    cronJobs: { yearly: { target: expect.any(Function) as unknown } },
    intervals: { often: { target: expect.any(Function) as unknown } },
    timeouts: { once: { target: expect.any(Function) as unknown } },
    onApplicationBootstrap: expect.any(Function) as unknown,
  });
});
