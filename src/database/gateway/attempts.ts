import { ApiError } from '../../errors/api-error.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import { BrokenOff, MustWait } from '../connection/driver-error.js';
import type { Load } from './load.js';
import type { Deadline, Patience } from './patience.js';
import { WaitingRoom } from './waiting-room.js';

const MOST_WAITING = 256;

/** The terms of one attempt. */
export interface Terms {
  readonly deadline: Deadline;
  /** Whether it may wait for locks, because it keeps no one else waiting. */
  readonly isPatient: boolean;
}

/** Attempts operations again where that may help. */
export class Attempts {
  private readonly waitingRoom: WaitingRoom;

  /** @param places connections that may wait for locks */
  constructor(
    private readonly patience: Patience,
    private readonly load: Load,
    places: number,
  ) {
    this.waitingRoom = new WaitingRoom(places, MOST_WAITING);
  }

  /**
   * Attempts once more what PostgreSQL broke off, and in the waiting room what has to wait for a lock.
   * @param failure what is thrown where the waiting room had no place in time
   */
  async make<T>(failure: ErrorCode, attempt: (terms: Terms) => Promise<T>): Promise<T> {
    const deadline = this.patience.begin();
    const attemptTwice = async (isPatient: boolean) => {
      this.load.begin();
      try {
        return await retryOnce(() => attempt({ deadline, isPatient }), deadline);
      } finally {
        this.load.end();
      }
    };
    try {
      return await attemptTwice(false);
    } catch (error) {
      if (!(error instanceof MustWait)) throw error;
      return this.waitingRoom.admit(
        deadline.spareMs,
        () => attemptTwice(true),
        () => new ApiError(failure, { cause: error }),
      );
    }
  }
}

/** A deadlock or a failed serialization is no one's fault and is over by now. */
async function retryOnce<T>(work: () => Promise<T>, deadline: Deadline): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BrokenOff) || deadline.spareMs < 0) throw error;
    return work();
  }
}
