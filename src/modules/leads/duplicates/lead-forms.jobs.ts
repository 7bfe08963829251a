import { Injectable } from '@nestjs/common';
import { millisecondsOf } from '../../../platform/config/duration.js';
import type { Call } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { BackgroundWork } from '../../../platform/jobs/background-work.js';
import { defineJob } from '../../../platform/jobs/job.js';
import { JobHandler } from '../../../platform/jobs/job.decorator.js';
import { JobsService } from '../../../platform/jobs/jobs.service.js';
import { type EventBatch, OnDurableEvent } from '../../events/event-handler.decorator.js';
import type { RecordedEvent } from '../../events/recorded-event.js';
import { FORM_FIELDS } from './lead-forms.js';
import { LeadFormsService } from './lead-forms.service.js';

/** The name of the handler and of the job. The migration that creates the table stores the handler under it. */
const NAME = 'latitude.lead-forms';

/** Stores the forms of the leads that an organization had before it asked for likely duplicates. */
const FILL = defineJob<object>(NAME, { concurrency: 1 });

/** In the memo of a batch: the id of the last event that was handled. */
const HANDLED_UNTIL = 'lead forms until';

/** Changed fields of a lead that can change its group. A deleted lead that exists again has changed its `deleted_at`. */
const RELEVANT = [...FORM_FIELDS, 'deleted_at'];

/** How long the first request of an organization stores forms itself. The job stores those that are left. */
const FIRST = '2s';

/** Keeps the forms of leads up to date in the background, in organizations that have asked for likely duplicates. */
@Injectable()
export class LeadFormsJobs {
  constructor(
    private readonly database: TenantDatabase,
    private readonly forms: LeadFormsService,
    private readonly jobs: JobsService,
    private readonly background: BackgroundWork,
  ) {}

  /**
   * Lets an organization have its forms kept from now on, if it has not asked before, and stores those of its leads.
   * @returns whether it has not asked before
   * @throws ApiError `query_failed`, `create_failed`, `overloaded`
   */
  async begin(call: Call): Promise<boolean> {
    const begins = await this.database.transaction(call, async (inner) => {
      const isFirst = await this.forms.begin(inner);
      if (isFirst) await this.jobs.send(inner, FILL, {}, { key: NAME, delay: FIRST });
      return isFirst;
    });
    if (!begins) return false;
    const end = performance.now() + millisecondsOf(FIRST, 'first request');
    await this.forms.fill(call, call.tenant.phoneRegion, () => performance.now() < end);
    return true;
  }

  /** Stores the forms of a lead together with those of the following events. They are read from the leads as they are now. */
  @OnDurableEvent(NAME, {
    types: ['lead.created', 'lead.updated', 'lead.deleted'],
    changed: RELEVANT,
    organizations: 'finds_duplicates',
  })
  async onLeadEvent(
    call: Call,
    event: RecordedEvent,
    { memo, following }: EventBatch,
  ): Promise<void> {
    const until = memo.get(HANDLED_UNTIL) as string | undefined;
    if (until !== undefined && event.id <= until) return;
    const events = [event, ...following()];
    const ids = events.map(({ record }) => record.id);
    await this.forms.update(call, call.tenant.phoneRegion, [...new Set(ids)]);
    memo.set(HANDLED_UNTIL, events.at(-1)?.id);
  }

  @JobHandler(FILL)
  async fill(call: Call): Promise<void> {
    await this.forms.fill(call, call.tenant.phoneRegion, () => this.background.isAccepting);
    // A server that stops leaves the rest to another one.
    if (!this.background.isAccepting) {
      await this.jobs.send(call, FILL, {}, { key: NAME, runAgain: true });
    }
  }
}
