import { performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';

/** The shortest time over which the load is measured. */
const PERIOD_MS = 1_000;

/** The share of the time in which the event loop of a server with little to do is active at most. */
const LITTLE = 0.25;

/** Measures how much this process has to do. */
@Injectable()
export class ServerLoad {
  private measuredAt = performance.now();
  private measured = performance.eventLoopUtilization();
  private isHighNow = false;

  /** Whether the process had much to do in the time before, which is that since the last call, but at least a second. */
  isHigh(): boolean {
    const now = performance.now();
    if (now - this.measuredAt >= PERIOD_MS) {
      const { utilization } = performance.eventLoopUtilization(this.measured);
      this.isHighNow = utilization > LITTLE;
      this.measured = performance.eventLoopUtilization();
      this.measuredAt = now;
    }
    return this.isHighNow;
  }
}
