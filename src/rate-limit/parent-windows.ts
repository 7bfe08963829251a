import { logger } from '../config/logger.js';
import type { ParentProcess } from '../workers/parent-process.js';
import type { SharedWindows, WindowReply, WindowRequest } from './windows.js';

/** The time after which the parent counts as down. */
const REPLY_TIMEOUT_MS = 1_000;

/** How long a worker counts on its own before it asks the parent again. */
const RETRY_MS = 1_000;

/** The windows that the workers of one parent share. The parent keeps them. */
export class ParentWindows implements SharedWindows {
  readonly spanMachines = false;
  private isDown = false;
  private retryAt = 0;

  /** @param onLost called when the parent has not replied in time */
  constructor(
    private readonly parent: Pick<ParentProcess, 'ask'>,
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
    // While the parent is down, one message asks it, and other requests count in this worker.
    this.retryAt = Infinity;
    try {
      const replies = await this.parent.ask({ topic: 'limits', requests }, REPLY_TIMEOUT_MS);
      if (this.isDown) logger.info('the parent replies: workers share the rate limits');
      this.isDown = false;
      return replies;
    } catch (error) {
      if (!this.isDown) {
        logger.warn('the parent does not reply: each worker has rate limits of its own');
        this.onLost();
      }
      this.isDown = true;
      this.retryAt = performance.now() + RETRY_MS;
      throw error;
    }
  }
}
