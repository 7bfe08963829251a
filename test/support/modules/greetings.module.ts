import { randomUUID } from 'node:crypto';
import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import { RequireScope } from '../../../src/platform/http/routes/access.js';
import { Text } from '../../../src/platform/fields/kinds/kinds.js';
import { CurrentCall } from '../../../src/platform/http/request/api-request.js';
import { defineJob, type JobRun } from '../../../src/platform/jobs/job.js';
import { JobHandler } from '../../../src/platform/jobs/job.decorator.js';
import { JobWorker } from '../../../src/platform/jobs/job-worker.js';
import { JobsService, type SendOptions } from '../../../src/platform/jobs/jobs.service.js';
import type { Call, TenantCall } from '../../../src/platform/data/call.js';
import type { TestApp } from '../../../src/testing/test-app.js';
import { until } from '../servers/product.js';

export interface Greeting {
  readonly text: string;
  readonly leadId?: string;
}

export const GREET = defineJob<Greeting>('acme.greet', {
  retries: 2,
  backoff: { delay: '1h', maxDelay: '2h' },
  concurrency: 2,
});

interface Run {
  /** The instance of the server. */
  readonly instance: string;
  readonly organization: string;
  readonly text: string;
  readonly run: JobRun;
}

/** The calls of the handlers of all instances, and their behavior in the current test. */
export const greetings = {
  runs: [] as Run[],
  handle: (() => Promise.resolve()) as (
    call: Call,
    greeting: Greeting,
    run: JobRun,
  ) => Promise<unknown>,
  reset(): void {
    this.runs = [];
    this.handle = () => Promise.resolve();
  },
  get texts(): string[] {
    return this.runs.map(({ text }) => text);
  },
};

@Injectable()
class Greeter {
  private readonly instance = randomUUID();

  @JobHandler(GREET)
  async greet(call: Call, greeting: Greeting, run: JobRun) {
    const { text } = greeting;
    const organization = call.tenant.id;
    greetings.runs.push({ instance: this.instance, organization, text, run });
    await greetings.handle(call, greeting, run);
  }
}

class GreetingDto {
  @Text({ max: 100, required: true }) text: string;
}

@Controller('api/v1/greetings')
class GreetingsController {
  constructor(private readonly jobs: JobsService) {}

  @Post()
  @RequireScope('leads:write')
  async send(@CurrentCall() call: Call, @Body() { text }: GreetingDto) {
    const id = await this.jobs.send(call, GREET, { text });
    if (text === 'fail') throw new Error('for a test');
    return { id };
  }
}

/** A module with a job and a route that sends it. */
@Module({ controllers: [GreetingsController], providers: [Greeter] })
export class GreetingsModule {}

/** The stored jobs of one organization. */
export class StoredJobs {
  constructor(
    private readonly app: TestApp,
    private readonly organization: string,
  ) {}

  send(
    text: string,
    options?: SendOptions,
    call: TenantCall = { tenant: { id: this.organization } },
  ) {
    return this.app.app.get(JobsService).send(call, GREET, { text }, options);
  }

  /** `delay`: minutes until the next run. */
  all() {
    return this.app.sql<{
      attempts: number;
      delay: number;
      failed: boolean;
      last_error: string | null;
    }>(
      `select attempts, round(extract(epoch from run_at - now()) / 60)::int as delay,
         failed_at is not null as failed, last_error from jobs where organization_id = $1`,
      [this.organization],
    );
  }

  /** Makes all delays and leases end now, which this server notices at once. */
  async passTime(): Promise<void> {
    await this.app.sql(
      'update jobs set run_at = now(), last_error = null where organization_id = $1',
      [this.organization],
    );
    this.app.app.get(JobWorker).wake();
  }

  /** Waits until every job has run. */
  untilNone(): Promise<void> {
    return until(async () => (await this.all()).length === 0);
  }

  /** Waits until the failure of an attempt is stored. */
  async untilFailed(attempts: number) {
    await until(async () => {
      const [job] = await this.all();
      return job?.attempts === attempts && job.last_error !== null;
    });
    return (await this.all())[0]!;
  }
}
