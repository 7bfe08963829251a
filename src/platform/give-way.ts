import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

/** How long a turn of the event loop works on the input of callers. The step that exceeds it is completed first. */
const SLICE_MS = 5;

const waiting: (() => void)[] = [];

/** When the work of this turn has begun. */
let begunAt: number | undefined;

/**
 * Lets other requests run, if the work of this turn of the event loop has taken its time. A loop over the input of a caller
 * calls it before each step. All loops together share the time of a turn; those that wait continue in their order.
 * @returns undefined if there is time left, so that nothing has to be awaited
 */
export function giveWay(): Promise<void> | undefined {
  if (begunAt === undefined) begin();
  else if (performance.now() - begunAt >= SLICE_MS) {
    return new Promise((resolve) => void waiting.push(resolve));
  }
  return undefined;
}

function begin(): void {
  begunAt = performance.now();
  setImmediate(() => {
    begunAt = undefined;
    const next = waiting.shift();
    if (!next) return;
    begin();
    next();
  });
}
