import type { ApiClient } from '../../src/testing/api-client.js';
import { createLead, dataOf } from '../../src/testing/factories.js';
import type { Assistant } from './assistant.js';
import { inDays, NOW, type SalesTask } from './tasks.js';

const APPOINTMENTS = '/api/v1/appointments';
const THURSDAY = 4;

/** A time of the next Thursday. */
function thursday(hour: number): string {
  return inDays(((THURSDAY + 6 - NOW.getUTCDay()) % 7) + 1, hour);
}

const hour = (start: number) => ({ begins: thursday(start), ends: thursday(start + 1) });

/** Creates a lead, and two people who work on Thursdays and have a visit at 13 UTC. */
async function prepare(api: ApiClient) {
  const grace = await createLead(api, { first_name: 'Grace', last_name: 'Hopper' });
  const hours = { thursday: [{ start: '09:00', end: '17:00' }] };
  for (const name of ['Anna', 'Ben']) {
    const resource = { name, time_zone: 'UTC', hours };
    const { id } = dataOf<{ id: string }>(await api.post('/api/v1/resources', resource), 201);
    const times = { start_time: thursday(13), end_time: thursday(14) };
    const visit = { lead_id: grace.id, resource_id: id, type: 'Visit', ...times };
    dataOf(await api.post(APPOINTMENTS, visit), 201);
  }
  return { grace };
}

/** Finds the lead and the slots of an afternoon. */
async function lookUp(assistant: Assistant) {
  const lead = await assistant.findOne('lead', { 'name contains': 'Grace Hopper' });
  const found = await assistant.look('find', 'free slots', {
    length: 60,
    'earliest start': thursday(12).slice(0, 16),
    'latest end': thursday(18).slice(0, 16),
  });
  const resources = found.resources as { resource_id: string; slots: { start_time: string }[] }[];
  const ids = resources.map(({ resource_id }) => resource_id);
  const starts = resources.flatMap(({ slots }) => slots.map(({ start_time }) => start_time)).sort();
  return { lead, ids, starts };
}

async function checkBooked(api: ApiClient, lead: { id: string }, start: number) {
  const booked = dataOf<object[]>(await api.get(`${APPOINTMENTS}?sort_by=created_at&limit=1`));
  const times = { start_time: thursday(start), end_time: thursday(start + 1) };
  const resource_id = expect.any(String) as string;
  expect(booked).toEqual([
    expect.objectContaining({ lead_id: lead.id, type: 'Estimate', resource_id, ...times }),
  ]);
}

/** Bookings of the time of resources. */
export const BOOKING_TASKS: readonly SalesTask[] = [
  {
    title: 'An hour with anybody',
    utterance: 'Book an estimate for Grace Hopper on Thursday afternoon: an hour, with anybody.',
    calls: 3,
    prepare,
    solve: async (assistant) => {
      const { lead, ids, starts } = await lookUp(assistant);
      const start = new Date(starts[0]!).getUTCHours();
      const one = { 'resources of which one is free': ids, 'what it is for': 'Estimate' };
      await assistant.act('book', 'appointment', { lead, ...one, ...hour(start) });
    },
    check: (api, { grace }) => checkBooked(api, grace!, 12),
  },
  {
    title: 'A time that others have taken',
    utterance:
      'Book an estimate for Grace Hopper on Thursday at one, with anybody. If nobody has time then, take the next hour that is free.',
    calls: 4,
    prepare,
    solve: async (assistant) => {
      const { lead, ids } = await lookUp(assistant);
      const one = { 'resources of which one is free': ids, 'what it is for': 'Estimate' };
      await assistant.act('book', 'appointment', { lead, ...one, ...hour(13) });
    },
    check: (api, { grace }) => checkBooked(api, grace!, 14),
  },
];
