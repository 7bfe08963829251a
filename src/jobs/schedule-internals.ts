import type { DiscoveryService } from '@nestjs/core';

// The timers of @nestjs/schedule. Its orchestrator is not public API: everything that relies on it is in
// this file. The package is not imported, because only teams that use it install it.

const NAME = 'SchedulerOrchestrator';

type Target = () => unknown;

/** The provider of `ScheduleModule` that starts the timers of `@Cron`, `@Interval` and `@Timeout`. */
export interface SchedulerOrchestrator {
  readonly cronJobs: Record<string, { target: Target }>;
  readonly intervals: Record<string, { target: Target }>;
  readonly timeouts: Record<string, { target: Target }>;
  onApplicationBootstrap(): void;
}

/** Finds the orchestrators of an application; none if it does not use @nestjs/schedule. */
export function orchestratorsOf(discovery: DiscoveryService): SchedulerOrchestrator[] {
  return discovery
    .getProviders()
    .filter(({ name, instance }) => name === NAME && instance !== undefined)
    .map(({ instance }) => instance as SchedulerOrchestrator);
}

/**
 * Passes every run of a timer to `run`. Without `run`, no timer starts. Call it before the bootstrap
 * hooks, which start the timers.
 */
export function interceptRuns(
  orchestrator: SchedulerOrchestrator,
  run: ((work: Target) => unknown) | undefined,
): void {
  const start = orchestrator.onApplicationBootstrap.bind(orchestrator);
  orchestrator.onApplicationBootstrap = () => {
    if (!run) return;
    const { cronJobs, intervals, timeouts } = orchestrator;
    for (const timer of [cronJobs, intervals, timeouts].flatMap((all) => Object.values(all))) {
      const { target } = timer;
      timer.target = () => run(target);
    }
    start();
  };
}
