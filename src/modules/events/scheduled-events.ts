import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { logger } from '../../platform/config/logger.js';
import { eventTypeOf } from '../../platform/data/records/tenant-entity.js';
import { TenantTables } from '../../platform/data/records/tenant-tables.service.js';
import { BackgroundWork } from '../../platform/jobs/background-work.js';
import { type DueEvents, EventLogRepository } from './event-log.repository.js';

/** How often each instance looks for due events. */
const POLL_MS = 1_000;

const FAILURE = 'scheduled events could not be written';

/** Writes the due events of an organization. @returns whether more can be due */
type Write = (organizationId: string) => Promise<boolean>;

/**
 * Writes the events that time causes, such as `task.overdue`. Each instance looks for them. A statement claims the moments
 * and writes the events, so that two instances write each event once, and a crash undoes both.
 */
@Injectable()
export class ScheduledEvents implements OnApplicationBootstrap {
  private writers: ReadonlyMap<string, Write> = new Map();

  constructor(
    private readonly log: EventLogRepository,
    private readonly tables: TenantTables,
    private readonly background: BackgroundWork,
  ) {}

  onApplicationBootstrap(): void {
    this.writers = new Map(this.tables.repositories.flatMap(writersOf));
    if (this.writers.size > 0) this.background.repeat(POLL_MS, () => this.writeDue(), FAILURE);
  }

  /** Writes the events that are due in all organizations that are not suspended, in turn. */
  async writeDue(): Promise<void> {
    let due = await this.log.findScheduled([...this.writers.keys()]);
    while (due.length > 0 && this.background.isAccepting) {
      const left: DueEvents[] = [];
      for (const events of due) if (await this.write(events)) left.push(events);
      due = left;
    }
  }

  /** @returns whether more events can be due. After a failure, they are left for the next run. */
  private async write({ organization_id, type }: DueEvents): Promise<boolean> {
    try {
      return (await this.writers.get(type)?.(organization_id)) ?? false;
    } catch (error) {
      logger.warn({ err: error, organization: organization_id, type }, FAILURE);
      return false;
    }
  }
}

function writersOf(repository: TenantTables['repositories'][number]): [string, Write][] {
  const { table } = repository;
  return Object.keys(table.events?.scheduled ?? {}).map((change) => [
    eventTypeOf(table, change),
    (id) => repository.writeScheduled({ tenant: { id } }, change),
  ]);
}
