import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { v4 as uuidv4 } from 'uuid';
import { AppointmentsService } from '../../modules/appointments/appointments.service.js';
import { Authenticator } from '../../platform/access/authenticator.js';
import { KeysService } from '../../modules/auth/keys.service.js';
import { OrganizationRemovalService } from '../../modules/auth/organization-removal.service.js';
import { ORDINARY_SCOPES } from '../../platform/access/scopes.js';
import { onStopSignal } from '../../platform/config/stop-signals.js';
import { LeadsService } from '../../modules/leads/leads.service.js';
import { TasksService } from '../../modules/tasks/tasks.service.js';
import type { Call } from '../../platform/data/call.js';
import { integer } from '../../platform/extension/command-options.js';
import type { Progress, Run } from '../../platform/extension/command.js';
import { sampleAppointment } from './sample/appointments.js';
import { sampleLead } from './sample/leads.js';
import { Random } from './sample/random.js';
import { sampleTask } from './sample/tasks.js';

const DEFAULT_LEADS = 1_000;
const MAX_LEADS = 1_000_000;
const BATCH = 1_000;
const SEED = 1_789;
const TEAM_SIZE = 5;

/** Every second lead has an appointment, every third a task. */
const LEADS_PER_APPOINTMENT = 2;
const LEADS_PER_TASK = 3;

/** `latitude demo`. */
export function addDemo(program: Command, run: Run): void {
  program
    .command('demo')
    .description('create an organization with a key and sample data')
    .option(
      '--leads <number>',
      `how many leads, 1 to ${MAX_LEADS}`,
      integer({ min: 1, max: MAX_LEADS }),
      DEFAULT_LEADS,
    )
    .action(({ leads }: { leads: number }) => createDemo(run, leads));
}

async function createDemo(run: Run, leads: number): Promise<void> {
  const interruption = new AbortController();
  let removeListeners = (): void => undefined;
  let created: string | undefined;
  try {
    await run(async (app, progress) => {
      // The records are removed at the end of a batch.
      removeListeners = onStopSignal((signal) => {
        interruption.abort(new Error(`${signal}: the sample data was removed.`));
      });
      const result = await demo(app, leads, progress, interruption.signal);
      created = result.organization_id;
      return result;
    });
  } catch (error) {
    // The result could not be printed.
    if (created !== undefined) {
      const id = created;
      await run((app) => removeDemo(app, id));
    }
    throw error;
  } finally {
    removeListeners();
  }
}

async function demo(
  app: INestApplicationContext,
  leads: number,
  progress: Progress,
  interruption: AbortSignal,
) {
  const { id } = await app.get(KeysService).createOrganization('Demo');
  try {
    return await fill(app, id, leads, progress, interruption);
  } catch (error) {
    await removeDemo(app, id);
    throw error;
  }
}

async function fill(
  app: INestApplicationContext,
  id: string,
  leads: number,
  progress: Progress,
  interruption: AbortSignal,
) {
  const keys = app.get(KeysService);
  const { key } = await keys.createKey({
    organizationId: id,
    name: 'Demo',
    scopes: ORDINARY_SCOPES,
  });
  const call = await app.get(Authenticator).authenticate(key);
  if (!call) throw new Error('The key of the organization does not work.');

  const sample = new Sample(app, call);
  await progress(leads, async (advance) => {
    for (let first = 0; first < leads; first += BATCH) {
      interruption.throwIfAborted();
      const count = Math.min(BATCH, leads - first);
      await sample.add(first, count);
      advance(count);
    }
  });
  interruption.throwIfAborted();
  return { organization_id: id, key, leads, ...sample.counts };
}

/** @throws Error with the command to run if the organization cannot be removed now */
async function removeDemo(app: INestApplicationContext, id: string): Promise<void> {
  try {
    await app.get(OrganizationRemovalService).remove(id);
  } catch (error) {
    const message = `The sample data could be neither completed nor removed: run "latitude organizations delete ${id} --yes".`;
    throw new Error(message, { cause: error });
  }
}

/** Sample data of one organization, with times before now. Only ids and times differ between runs. */
class Sample {
  readonly counts = { appointments: 0, tasks: 0 };
  private readonly random = new Random(SEED);
  private readonly now = new Date();
  private readonly team = Array.from({ length: TEAM_SIZE }, () => uuidv4());

  constructor(
    private readonly app: INestApplicationContext,
    private readonly call: Call,
  ) {}

  /** Adds leads, numbered from `first`, with their appointments and tasks. */
  async add(first: number, count: number): Promise<void> {
    const { random, now, team, call } = this;
    const inputs = Array.from({ length: count }, (_, n) => sampleLead(random, first + n, now));
    const ids = await this.app.get(LeadsService).createMany(call, inputs);
    const leads = inputs.map((lead, n) => ({ ...lead, id: ids[n] ?? '', number: first + n }));

    const appointments = leads
      .filter(({ number }) => number % LEADS_PER_APPOINTMENT === 0)
      .map((lead) => sampleAppointment(random, lead, now));
    await this.app.get(AppointmentsService).createMany(call, appointments);
    const tasks = leads
      .filter(({ number }) => number % LEADS_PER_TASK === 0)
      .map((lead) => sampleTask(random, lead, team, now));
    await this.app.get(TasksService).createMany(call, tasks);
    this.counts.appointments += appointments.length;
    this.counts.tasks += tasks.length;
  }
}
