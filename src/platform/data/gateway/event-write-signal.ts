import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';

/** Notifies the publisher of this instance after commits that wrote events. */
@Injectable()
export class EventWriteSignal {
  /** Identifies this instance in the events that it writes. */
  readonly origin = randomInt(1, 2 ** 31);
  /** Called after a commit that wrote events. The publisher sets it. */
  notify: () => void = () => undefined;
}
