import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import { logger } from '../../config/logger.js';

/** Publishes changed and deleted records to subscribers in this process, after the commit. */
@Injectable()
export class ChangeBus {
  private readonly emitter = new EventEmitter().setMaxListeners(0);

  /**
   * Calls `listener` each time the record is changed or deleted.
   * @returns a function that ends the subscription
   */
  subscribe(organizationId: string, id: string, listener: () => void): () => void {
    const subscriber = () => {
      try {
        listener();
      } catch (error) {
        // The transaction is committed, so the request must not fail.
        logger.error({ err: error }, 'a subscriber to record changes failed');
      }
    };
    const key = recordKey(organizationId, id);
    this.emitter.on(key, subscriber);
    return () => {
      this.emitter.off(key, subscriber);
    };
  }

  /** Calls the subscribers of a record that was changed or deleted. */
  publish(organizationId: string, id: string): void {
    this.emitter.emit(recordKey(organizationId, id));
  }
}

/** Ids are unique across all kinds of records and not case-sensitive. */
function recordKey(organizationId: string, id: string): string {
  return `${organizationId} ${id}`.toLowerCase();
}
