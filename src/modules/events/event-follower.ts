import { EventEmitter, once } from 'node:events';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ChangeBus } from '../../platform/data/gateway/change-bus.js';
import { EventLogRepository, type EventMark, type Publication } from './event-log.repository.js';

/** Maximum number of events that one statement reads. */
const PAGE = 1_000;

type Listener = (marks: readonly EventMark[]) => void;

/** Notifies this instance of the events that any instance has published, in their order. */
@Injectable()
export class EventFollower implements OnModuleDestroy {
  /** Events before this position are removed. */
  expiredBefore = 0;
  /** Every event up to this position was visible when it was set. Undefined before the first read. */
  private position: number | undefined;
  private prepare = (): Promise<void> => Promise.resolve();
  private readonly listeners = new Set<Listener>();
  /** Emits the ids of organizations with new events, for the requests that wait for them. */
  private readonly wakeUps = new EventEmitter().setMaxListeners(0);
  /** Whether the server is stopping, so that requests no longer wait. */
  isStopped = false;

  constructor(
    private readonly log: EventLogRepository,
    private readonly changes: ChangeBus,
  ) {}

  /** The position up to which this instance knows all events; 0 before the first read. */
  get head(): number {
    return this.position ?? 0;
  }

  /**
   * Sets what is called before each page of events, in place of an earlier one: the sessions of /mcp read their
   * subscriptions there, before listeners are notified. If it fails, the page is read again later.
   */
  beforeEvents(prepare: () => Promise<void>): void {
    this.prepare = prepare;
  }

  /** @param listener receives the new events in pages */
  onEvents(listener: Listener): void {
    this.listeners.add(listener);
  }

  /**
   * Notifies listeners of all events up to the last one. Those of the publication follow the position `previous`. If this
   * instance does not know the events up to there, other instances have published them, and they are read. The first call
   * begins with the publication.
   */
  async advance({ published, previous, last, expiredBefore }: Publication): Promise<void> {
    this.expiredBefore = expiredBefore;
    this.position ??= previous;
    while (this.position < last) {
      const isNext = this.position === previous;
      const marks: readonly EventMark[] = isNext
        ? published
        : await this.log.readMarks(this.position, last, PAGE);
      if (marks.length > 0) await this.prepare();
      // After a full page there may be more events up to `last`.
      const end = marks.length === PAGE ? marks.at(-1) : undefined;
      this.position = end?.position ?? last;
      if (marks.length > 0) this.notify(marks);
    }
  }

  /** Resolves when an event of the organization is published, when `signal` aborts, or when the server stops. */
  async waitForNext(organizationId: string, signal: AbortSignal): Promise<void> {
    if (this.isStopped) return;
    await once(this.wakeUps, organizationId, { signal }).catch(() => undefined);
  }

  onModuleDestroy(): void {
    this.isStopped = true;
    for (const id of this.wakeUps.eventNames()) this.wakeUps.emit(id);
  }

  private notify(marks: readonly EventMark[]): void {
    for (const { organization_id, record_id, type } of marks) {
      const [kind, change] = type.split('.');
      // A record has no subscribers before it is created. Agents subscribe to the list of its kind, such as `lead://list`.
      const subject = change === 'created' ? `${kind}://list` : record_id;
      this.changes.publish(organization_id, subject);
    }
    for (const listener of this.listeners) listener(marks);
    const organizations = new Set(marks.map((mark) => mark.organization_id));
    for (const id of organizations) this.wakeUps.emit(id);
  }
}
