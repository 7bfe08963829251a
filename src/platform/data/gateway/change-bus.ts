import { Injectable } from '@nestjs/common';
import { logger } from '../../config/logger.js';

/** Publishes changed and deleted records to subscribers in this process, after the commit. */
@Injectable()
export class ChangeBus {
  private readonly subscribers = new Map<string, Set<() => void>>();

  /**
   * Calls `listener` each time the record is changed or deleted.
   * @returns a function that ends the subscription
   */
  subscribe(organizationId: string, id: string, listener: () => void): () => void {
    const key = recordKey(organizationId, id);
    const ofRecord = this.subscribers.get(key) ?? new Set();
    // A wrapper per subscription, so that the same function can subscribe twice.
    const subscriber = () => {
      listener();
    };
    this.subscribers.set(key, ofRecord.add(subscriber));
    return () => {
      ofRecord.delete(subscriber);
      if (ofRecord.size === 0 && this.subscribers.get(key) === ofRecord) {
        this.subscribers.delete(key);
      }
    };
  }

  /** Calls the subscribers of a record that was changed or deleted. */
  publish(organizationId: string, id: string): void {
    for (const subscriber of this.subscribers.get(recordKey(organizationId, id)) ?? []) {
      try {
        subscriber();
      } catch (error) {
        // The transaction is committed, so the request must not fail.
        logger.error({ err: error }, 'a subscriber to record changes failed');
      }
    }
  }
}

/** Ids are unique across all kinds of records and not case-sensitive. */
function recordKey(organizationId: string, id: string): string {
  return `${organizationId} ${id}`.toLowerCase();
}
