import { Injectable } from '@nestjs/common';
import { logger } from '../config/logger.js';

/** Tells whoever listens that a record was changed or deleted, once that is committed. */
@Injectable()
export class ChangeBus {
  private readonly listeners = new Map<string, Set<() => void>>();

  /**
   * Listens for changes of one record.
   * @returns what ends it
   */
  subscribe(organizationId: string, id: string, listener: () => void): () => void {
    const record = nameOf(organizationId, id);
    const ofRecord = this.listeners.get(record) ?? new Set();
    // Its own, so that one function that listens twice ends twice.
    const told = () => {
      listener();
    };
    this.listeners.set(record, ofRecord.add(told));
    return () => {
      ofRecord.delete(told);
      if (ofRecord.size === 0 && this.listeners.get(record) === ofRecord) {
        this.listeners.delete(record);
      }
    };
  }

  /** Tells of the records that one commit has changed, of each once. */
  publish(organizationId: string, ids: Iterable<string>): void {
    if (this.listeners.size === 0) return;
    for (const record of new Set(Array.from(ids, (id) => nameOf(organizationId, id)))) {
      for (const listener of this.listeners.get(record) ?? []) {
        try {
          listener();
        } catch (error) {
          // What is committed cannot fail any more.
          logger.error({ err: error }, 'who listens could not be told of a change');
        }
      }
    }
  }
}

/** Ids are unique over all kinds of records; case is not part of them. */
function nameOf(organizationId: string, id: string): string {
  return `${organizationId} ${id}`.toLowerCase();
}
