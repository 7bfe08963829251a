import type { Faker } from '@faker-js/faker';
import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { v4 as uuidv4 } from 'uuid';
import { AppointmentsService } from '../../modules/appointments/appointments.service.js';
import { Authenticator } from '../../platform/access/authenticator.js';
import { CustomFieldsService } from '../../modules/custom-fields/custom-fields.service.js';
import { KeysService } from '../../modules/auth/keys.service.js';
import { OrganizationRemovalService } from '../../modules/auth/organization-removal.service.js';
import { ORDINARY_SCOPES } from '../../platform/access/scopes.js';
import { onStopSignal } from '../../platform/config/stop-signals.js';
import { LeadsService } from '../../modules/leads/leads.service.js';
import { AvailabilityService } from '../../modules/resources/bookings/availability.service.js';
import { ResourcesService } from '../../modules/resources/resources.service.js';
import { TasksService } from '../../modules/tasks/tasks.service.js';
import type { Call } from '../../platform/data/call.js';
import { integer } from '../../platform/extension/command-options.js';
import type { Progress, Run } from '../../platform/extension/command.js';
import {
  bookingWindow,
  SAMPLE_FIELDS,
  SAMPLE_RESOURCES,
  sampleBookings,
} from './sample-bookings.js';
import { sampleAppointment, sampleLead, sampleTask } from './sample.js';

const DEFAULT_LEADS = 1_000;
const MAX_LEADS = 1_000_000;
const BATCH = 1_000;
const SEED = 1_789;
const TEAM_SIZE = 5;

/** Every second lead has an appointment, every third a task. */
const LEADS_PER_APPOINTMENT = 2;
const LEADS_PER_TASK = 3;

/** Every tenth lead, up to this many, has an appointment with a resource in the next days. */
const LEADS_PER_BOOKING = 10;
const MAX_BOOKINGS = 24;

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

/** Creates the sample data. If that fails, is interrupted or cannot be printed, the data is removed. */
async function createDemo(run: Run, leads: number): Promise<void> {
  let id: string | undefined;
  const interruption = new AbortController();
  const removeListeners = onStopSignal((signal) => {
    interruption.abort(new Error(`${signal}: the sample data was removed.`));
  });
  try {
    await run(async (app, progress) => {
      ({ id } = await app.get(KeysService).createOrganization('Demo'));
      return fill(app, id, leads, progress, interruption.signal);
    });
  } catch (error) {
    if (id === undefined) throw error;
    await removeDemo(run, id, error);
  } finally {
    removeListeners();
  }
}

/**
 * Adds leads with their appointments and tasks. Only ids and times differ between runs.
 * @param interruption ends the work after a batch
 */
async function fill(
  app: INestApplicationContext,
  id: string,
  leads: number,
  progress: Progress,
  interruption: AbortSignal,
) {
  const scopes = ORDINARY_SCOPES;
  const { key } = await app
    .get(KeysService)
    .createKey({ organizationId: id, name: 'Demo', scopes });
  const call = await app.get(Authenticator).authenticate(key);
  if (!call) throw new Error('The key of the organization does not work.');

  // Loaded on demand, because only this command needs it.
  const { faker } = await import('@faker-js/faker/locale/en_US');
  faker.seed(SEED);
  const now = new Date();
  const fields = app.get(CustomFieldsService);
  for (const field of SAMPLE_FIELDS) {
    await fields.complete(call, await fields.prepare(call, field));
  }
  const booked: string[] = [];
  const team = Array.from({ length: TEAM_SIZE }, () => uuidv4());
  const addBatch = async (first: number, count: number) => {
    const inputs = Array.from({ length: count }, (_, n) => sampleLead(faker, first + n, now));
    const ids = await app.get(LeadsService).createMany(call, inputs);
    const added = inputs.map((lead, n) => ({ ...lead, id: ids[n] ?? '' }));
    const every = (step: number, from = 0) => added.filter((_, n) => (first + n) % step === from);
    const visits = every(LEADS_PER_APPOINTMENT).map((lead) => sampleAppointment(faker, lead, now));
    await app.get(AppointmentsService).createMany(call, visits);
    booked.push(...every(LEADS_PER_BOOKING, LEADS_PER_BOOKING - 1).map(({ id: leadId }) => leadId));
    const todos = every(LEADS_PER_TASK).map((lead) => sampleTask(faker, lead, team, now));
    await app.get(TasksService).createMany(call, todos);
  };
  await progress(leads, async (advance) => {
    for (let first = 0; first < leads; first += BATCH) {
      interruption.throwIfAborted();
      const count = Math.min(BATCH, leads - first);
      await addBatch(first, count);
      advance(count);
    }
  });
  interruption.throwIfAborted();
  const bookings = await book(app, call, faker, booked.slice(0, MAX_BOOKINGS));
  const appointments = Math.ceil(leads / LEADS_PER_APPOINTMENT) + bookings;
  const tasks = Math.ceil(leads / LEADS_PER_TASK);
  const resources = SAMPLE_RESOURCES.length;
  return { organization_id: id, key, leads, appointments, tasks, resources };
}

/** Adds resources, and books appointments of leads with them. @returns the number of appointments */
async function book(
  app: INestApplicationContext,
  call: Call,
  faker: Faker,
  leads: readonly string[],
): Promise<number> {
  let number = 0;
  for (const [n, fields] of SAMPLE_RESOURCES.entries()) {
    const { id } = await app.get(ResourcesService).create(call, fields);
    const own = leads.filter((_, index) => index % SAMPLE_RESOURCES.length === n);
    const query = { resource_id: [id], ...bookingWindow(new Date()) };
    const [free] = await app.get(AvailabilityService).find(call, query);
    const slots = (free?.slots ?? []).map(({ start_time, end_time }) => ({
      start_time: new Date(start_time),
      end_time: new Date(end_time),
    }));
    const bookings = sampleBookings(faker, id, slots, own);
    for (const booking of bookings) await app.get(AppointmentsService).create(call, booking);
    number += bookings.length;
  }
  return number;
}

/** @throws `reason`, or an Error with the command to run if the organization cannot be removed now */
async function removeDemo(run: Run, id: string, reason: unknown): Promise<void> {
  try {
    await run(async (app) => {
      await app.get(OrganizationRemovalService).remove(id);
      // A result would be printed.
      throw reason;
    });
  } catch (cause) {
    if (cause === reason) throw cause;
    const message = `The sample data could be neither completed nor removed: run "latitude organizations delete ${id} --yes".`;
    throw new Error(message, { cause });
  }
}
