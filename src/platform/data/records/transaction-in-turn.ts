import type { Call } from '../call.js';
import { NothingInserted } from './idempotent-insert.js';

/** Runs work when it has its turn, with a call that has it. */
type InTurn = <T>(work: (call: Call) => Promise<T>) => Promise<T>;

/**
 * An idempotent insert needs a transaction, which waits for other operations before it begins. The request runs again in that
 * transaction.
 */
export class TransactionInTurn extends NothingInserted {
  /** @param inTurn throws as well if the request can be refused before its transaction begins */
  constructor(readonly inTurn: InTurn) {
    super();
  }
}
