import type { HttpAdapterHost } from '@nestjs/core';
import type { SystemDatabase } from '../data/gateway/system-database.js';
import type { JobQueueRepository } from './job-queue.repository.js';
import { MetricsRegistry } from '../metrics-registry.js';
import { BackgroundWork } from './background-work.js';
import type { JobRegistry } from './job-registry.js';
import { JobWorker } from './job-worker.js';
import { Leases } from './leases.js';

it('takes a run once while the claim of the first try is not stored', async () => {
  const name = 'acme.nightly';
  const registry = {
    schedules: new Map([[name, { name, schedule: { next: () => null }, run: jest.fn() }]]),
  };
  const claim = jest.fn(() => new Promise<boolean>(() => undefined));
  const findDueSchedules = () => Promise.resolve([{ name, now: new Date() }]);
  const jobs = { findDueSchedules, claimSchedule: claim };
  const background = new BackgroundWork({ httpAdapter: {} } as unknown as HttpAdapterHost<never>);
  const worker = new JobWorker(
    registry as unknown as JobRegistry,
    jobs as unknown as JobQueueRepository,
    new Leases({} as SystemDatabase, background),
    background,
    new MetricsRegistry(),
  );
  await worker.startDueSchedules();
  await worker.startDueSchedules();
  expect(claim).toHaveBeenCalledTimes(1);
});

it('runs a scheduled job that it has taken, if the server begins to stop meanwhile', async () => {
  const name = 'acme.nightly';
  const run = jest.fn();
  const httpAdapter = { isDraining: false };
  const background = new BackgroundWork({ httpAdapter } as unknown as HttpAdapterHost<never>);
  const schedule = { next: () => null };
  const registry = { schedules: new Map([[name, { name, schedule, run }]]) };
  const release = jest.fn(() => Promise.resolve());
  const jobs = {
    findDueSchedules: () => Promise.resolve([{ name, now: new Date() }]),
    claimSchedule: () => {
      httpAdapter.isDraining = true;
      return Promise.resolve(true);
    },
    releaseSchedule: release,
  };
  const worker = new JobWorker(
    registry as unknown as JobRegistry,
    jobs as unknown as JobQueueRepository,
    new Leases({} as SystemDatabase, background),
    background,
    new MetricsRegistry(),
  );
  await worker.startDueSchedules();
  await background.beforeApplicationShutdown();
  expect(run).toHaveBeenCalledTimes(1);
  expect(release).toHaveBeenCalledTimes(1);
});
