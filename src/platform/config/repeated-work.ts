import { logger } from './logger.js';

/** Runs `work` again and again, with a pause before each run, until it is stopped. */
export class RepeatedWork {
  private timer: NodeJS.Timeout | undefined;
  private isRunning = false;

  /** @param failure the message of the log line if a run fails */
  constructor(
    private readonly work: () => Promise<unknown>,
    private readonly pauseMs: number,
    private readonly failure: string,
  ) {}

  /** The first run begins after a pause. */
  start(): void {
    this.isRunning = true;
    this.schedule();
  }

  stop(): void {
    this.isRunning = false;
    clearTimeout(this.timer);
  }

  private schedule(): void {
    if (!this.isRunning) return;
    this.timer = setTimeout(() => void this.run(), this.pauseMs).unref();
  }

  private async run(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      logger.warn({ err: error }, this.failure);
    }
    this.schedule();
  }
}
