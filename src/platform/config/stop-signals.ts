import { logger } from './logger.js';

/** The signals that ask a process to stop. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Signals within this time count as one. On Ctrl+C, the terminal sends SIGINT to the process and to npm, which passes it
 * on, so that it arrives twice.
 */
const REPETITION_MS = 1_000;

/** How soon the process notices that npm has ended. */
const CHECK_NPM_EVERY_MS = 250;

/**
 * Waits for a stop signal, or for the end of the npm that runs this process.
 * @returns a signal that is aborted when the stop is requested, with the name of the stop signal as the reason
 */
export function nextStop(): AbortSignal {
  const controller = new AbortController();
  const request = (signal: NodeJS.Signals) => {
    controller.abort(signal);
  };
  onStopSignal(request);
  onEndOfNpm(() => {
    if (controller.signal.aborted) return;
    logger.info('npm has ended: stopping as on SIGTERM');
    request('SIGTERM');
  });
  return controller.signal;
}

/**
 * Calls a listener with the first stop signal. Signals within the next second are repetitions of the first
 * one. A later signal ends the process at once.
 * @returns a function that removes the listeners
 */
export function onStopSignal(listener: (signal: NodeJS.Signals) => void): () => void {
  let receivedAt: number | undefined;
  const receive = (signal: NodeJS.Signals) => {
    if (receivedAt === undefined) {
      receivedAt = performance.now();
      listener(signal);
    } else if (performance.now() - receivedAt >= REPETITION_MS) {
      // Without a listener, the signal ends the process.
      remove();
      process.kill(process.pid, signal);
    }
  };
  const remove = () => {
    for (const signal of STOP_SIGNALS) process.off(signal, receive);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, receive);
  return remove;
}

/**
 * Calls a listener when the npm that runs this process as a script has ended. npm passes SIGINT and SIGTERM on,
 * but not SIGHUP and SIGKILL, which end it at once.
 */
function onEndOfNpm(listener: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    listener();
  }, CHECK_NPM_EVERY_MS).unref();
}
