import { logger } from './logger.js';

/**
 * Runs work again and again, with a pause before each run.
 * @param failure the message of the log line if a run fails
 * @returns ends the repetition
 */
export function repeat(pauseMs: number, work: () => unknown, failure: string): () => void {
  let timer: NodeJS.Timeout | undefined;
  const schedule = () => {
    timer = setTimeout(() => void run(), pauseMs).unref();
  };
  const run = async () => {
    try {
      await work();
    } catch (error) {
      logger.warn({ err: error }, failure);
    }
    if (timer) schedule();
  };
  schedule();
  return () => {
    clearTimeout(timer);
    timer = undefined;
  };
}
