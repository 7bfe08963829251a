import type { HttpAdapterHost } from '@nestjs/core';
import type { JobSchedulesRepository } from '../data/jobs/job-schedules.repository.js';
import type { JobWorkerRepository } from '../data/jobs/job-worker.repository.js';
import { BackgroundWork } from './background-work.js';
import type { JobOutcomes } from './job-outcomes.js';
import type { JobRegistry } from './job-registry.js';
import { JobScheduler } from './job-scheduler.js';

it('takes a run once while the claim of the first try is not stored', async () => {
  const name = 'acme.nightly';
  const registry = {
    schedules: new Map([[name, { name, schedule: { next: () => null }, run: jest.fn() }]]),
  };
  const claim = jest.fn(() => new Promise<boolean>(() => undefined));
  const schedules = { findDue: () => Promise.resolve([{ name, now: new Date() }]), claim };
  const background = new BackgroundWork({ httpAdapter: {} } as unknown as HttpAdapterHost<never>);
  const scheduler = new JobScheduler(
    registry as unknown as JobRegistry,
    schedules as unknown as JobSchedulesRepository,
    {} as JobWorkerRepository,
    background,
    {} as JobOutcomes,
  );
  await scheduler.startDue();
  await scheduler.startDue();
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
  const schedules = {
    findDue: () => Promise.resolve([{ name, now: new Date() }]),
    claim: () => {
      httpAdapter.isDraining = true;
      return Promise.resolve(true);
    },
    release,
  };
  const scheduler = new JobScheduler(
    registry as unknown as JobRegistry,
    schedules as unknown as JobSchedulesRepository,
    {} as JobWorkerRepository,
    background,
    { count: jest.fn() } as unknown as JobOutcomes,
  );
  await scheduler.startDue();
  await background.beforeApplicationShutdown();
  expect(run).toHaveBeenCalledTimes(1);
  expect(release).toHaveBeenCalledTimes(1);
});
