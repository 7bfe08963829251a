import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';

/** Notifies the publisher of this instance after commits that wrote events. */
@Injectable()
export class EventWriteSignal {
  /** Identifies this instance in the events that it writes. */
  readonly origin = randomInt(1, 2 ** 31);
  private readonly listeners = new Set<() => void>();

  /** Calls `listener` after each commit that wrote events. */
  onWrite(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Call this after a commit that wrote events. */
  notify(): void {
    for (const listener of this.listeners) listener();
  }
}
