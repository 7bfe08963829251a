import { logger } from './logger.js';
import { onEndOfNpm } from './npm-script.js';
import { onStopSignal } from './stop-signals.js';

/** The request to stop this process. */
export interface Stop {
  /** Resolves with the signal that requests the stop. */
  readonly requested: Promise<NodeJS.Signals>;
  /** Is aborted when the stop is requested. */
  readonly signal: AbortSignal;
}

/** Waits for a stop signal, or for the end of the npm that runs this process. */
export function nextStop(): Stop {
  const controller = new AbortController();
  const requested = new Promise<NodeJS.Signals>((resolve) => {
    const request = (signal: NodeJS.Signals) => {
      resolve(signal);
      controller.abort();
    };
    onStopSignal(request);
    onEndOfNpm(() => {
      if (controller.signal.aborted) return;
      logger.info('npm has ended: stopping as on SIGTERM');
      request('SIGTERM');
    });
  });
  return { requested, signal: controller.signal };
}
