import { logger } from '../config/logger.js';
import type { ParentProcess } from '../workers/parent-process.js';
import type { SharedWindows, WindowReply, WindowRequest } from './windows.js';

/** If the parent does not reply within this time, it is considered down. */
const REPLY_TIMEOUT_MS = 1_000;

/** How long a worker counts separately before it tries the parent again. */
const RETRY_MS = 1_000;

/** The windows that the workers of one parent share. The parent keeps them. */
export class ParentWindows implements SharedWindows {
  readonly spanMachines = false;
  private isDown = false;
  private retryAt = 0;

  /** @param onLost called when the parent has not replied in time */
  constructor(
    private readonly parent: Pick<ParentProcess, 'request'>,
    private readonly onLost: () => void,
  ) {}

  get isOpen(): boolean {
    return !this.isDown || performance.now() >= this.retryAt;
  }

  open(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    // The channel to the parent stays open until the process ends.
  }

  async run(requests: readonly WindowRequest[]): Promise<readonly WindowReply[]> {
    // While the parent is down, only one request at a time tries it. The others are counted in this worker.
    this.retryAt = Infinity;
    try {
      const replies = await this.parent.request({ topic: 'limits', requests }, REPLY_TIMEOUT_MS);
      if (this.isDown)
        logger.info('the parent process replies again: the workers share the rate limits');
      this.isDown = false;
      return replies;
    } catch (error) {
      if (!this.isDown) {
        logger.warn('the parent process does not reply: each worker has rate limits of its own');
        this.onLost();
      }
      this.isDown = true;
      this.retryAt = performance.now() + RETRY_MS;
      throw error;
    }
  }
}
