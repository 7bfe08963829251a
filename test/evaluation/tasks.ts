import type { Scope } from '../../src/platform/access/scopes.js';
import type { ApiClient } from '../../src/testing/api-client.js';
import { createLead, dataOf, expectError, getLead, LEADS } from '../../src/testing/factories.js';
import type { Assistant, Facts } from './assistant.js';

/** A task of a salesperson. */
export interface SalesTask {
  readonly title: string;
  readonly utterance: string;
  /** Maximum number of calls, including a dry run before each deletion. */
  readonly calls: number;
  /** The scopes of the assistant's key; all by default. */
  readonly scopes?: readonly Scope[];
  /** Whether the initial records need every scope. */
  readonly administers?: boolean;
  /** Replacements of rejected values. */
  readonly corrections?: Facts;
  /** Creates the initial records. */
  readonly prepare: (api: ApiClient) => Promise<Prepared>;
  /** The steps of the solution, in words that are not names of tools. */
  readonly solve: (assistant: Assistant) => Promise<unknown>;
  /** Checks the outcome. */
  readonly check: (api: ApiClient, before: Prepared, said: readonly string[]) => Promise<void>;
}

/** Initial records by the name that the check uses. */
type Prepared = Readonly<Record<string, { readonly id: string }>>;

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';

export const NOW = new Date();
const DAY_MS = 24 * 60 * 60 * 1000;
const TUESDAY = 2;

/** The time this number of days from today, at an hour of UTC. */
export function inDays(days: number, hour = 0): string {
  const midnight = Date.UTC(NOW.getUTCFullYear(), NOW.getUTCMonth(), NOW.getUTCDate());
  return new Date(midnight + days * DAY_MS + hour * 60 * 60 * 1000).toISOString();
}

function nextTuesday(hour: number): string {
  return inDays(((TUESDAY + 6 - NOW.getUTCDay()) % 7) + 1, hour);
}

function aDayLater(time: unknown): string {
  return new Date(Date.parse(time as string) + DAY_MS).toISOString();
}

/** Creates a visit to a lead, from 10 to 11 UTC. */
async function visit(api: ApiClient, lead: { id: string }, day: number, fields: object = {}) {
  const times = { start_time: inDays(day, 10), end_time: inDays(day, 11) };
  const body = { lead_id: lead.id, type: 'Visit', ...times, ...fields };
  return dataOf<{ id: string }>(await api.post(APPOINTMENTS, body), 201);
}

async function todo(api: ApiClient, title: string, fields: object = {}) {
  return dataOf<{ id: string }>(await api.post(TASKS, { title, ...fields }), 201);
}

async function read(api: ApiClient, path: string): Promise<unknown> {
  return dataOf<unknown>(await api.get(path));
}

export const SALES_TASKS: readonly SalesTask[] = [
  {
    title: 'A business card',
    utterance:
      'Here is the card of Grace Hopper, Harbor Roofing: 415-555-0132 line 7, grace@example.com. Add her if she is new, and book an estimate at her office next Tuesday from 10 to 11.',
    calls: 4,
    corrections: { phone: '415-555-0132 x7' },
    prepare: async (api) => ({ other: await createLead(api, { first_name: 'Ada' }) }),
    solve: async (assistant) => {
      const [known] = await assistant.find('leads', { 'email contains': 'grace@example.com' });
      const card = {
        'given name': 'Grace',
        'family name': 'Hopper',
        company: 'Harbor Roofing',
        phone: '415-555-0132 line 7',
        'e-mail': 'grace@example.com',
      };
      const lead = known ?? (await assistant.act('create', 'lead', card));
      await assistant.act('book', 'appointment', {
        lead,
        begins: nextTuesday(10),
        ends: nextTuesday(11),
        'what it is for': 'Estimate',
        'where it is': 'Harbor Roofing',
      });
    },
    check: async (api) => {
      const [grace, ...others] = (await read(api, `${LEADS}?search=hopper`)) as { id: string }[];
      expect(others).toEqual([]);
      expect(await getLead(api, grace!.id)).toMatchObject({
        first_name: 'Grace',
        company: 'Harbor Roofing',
        phone: '415-555-0132 x7',
        email: 'grace@example.com',
      });
      const tuesday = { start_time: nextTuesday(10), end_time: nextTuesday(11) };
      expect(new Date(tuesday.start_time).getUTCDay()).toBe(TUESDAY);
      expect(await read(api, APPOINTMENTS)).toMatchObject([
        { lead_id: grace!.id, ...tuesday, type: 'Estimate', location: 'Harbor Roofing' },
      ]);
    },
  },
  {
    title: 'A number that is known already',
    utterance:
      'Ada Lovelace called from (415) 555-0190. She wants a new roof this month: make her a hot lead. If we have the number already, just bring that lead up to date.',
    calls: 3,
    prepare: async (api) => ({
      ada: await createLead(api, { first_name: 'A.', last_name: 'King', phone: '+14155550190' }),
    }),
    solve: async (assistant) => {
      const [lead] = await assistant.find('leads', { 'name contains': 'Ada Lovelace' });
      const call = {
        'given name': 'Ada',
        'family name': 'Lovelace',
        phone: '(415) 555-0190',
        'how likely to buy': 'hot',
        notes: 'Wants a new roof this month.',
      };
      await (lead
        ? assistant.act('change', 'lead', { lead, ...call })
        : assistant.act('create', 'lead', call));
    },
    check: async (api, { ada }) => {
      expect(await read(api, LEADS)).toMatchObject([{ id: ada!.id }]);
      expect(await getLead(api, ada!.id)).toMatchObject({
        first_name: 'Ada',
        last_name: 'Lovelace',
        temperature: 'hot',
        notes: 'Wants a new roof this month.',
      });
    },
  },
  {
    title: 'Hot leads that no one calls',
    utterance:
      'Which hot leads have nothing open? Make a task for each: call them, by tomorrow 5 pm, high priority.',
    calls: 4,
    prepare: async (api) => {
      const hot = (first_name: string) => createLead(api, { first_name, temperature: 'hot' });
      const [ada, grace, alan] = [await hot('Ada'), await hot('Grace'), await hot('Alan')];
      await createLead(api, { first_name: 'Kurt', temperature: 'cold' });
      await todo(api, 'Send the offer', { contact_id: ada.id });
      await todo(api, 'Send a letter', { contact_id: grace.id, status: 'completed' });
      return { grace, alan };
    },
    solve: async (assistant) => {
      const leads = await assistant.find('leads', { temperature: 'hot' });
      const tasks = await assistant.find('tasks', { status: 'open' });
      const busy = new Set(tasks.flatMap((task) => Object.values(task)));
      for (const lead of leads.filter(({ id }) => !busy.has(id))) {
        await assistant.act('create', 'task', {
          'what is to be done': `Call ${String(lead.first_name)}`,
          'the lead it is about': lead,
          'when it is due': inDays(1, 17),
          'how pressing it is': 'high',
        });
      }
    },
    check: async (api, { grace, alan }) => {
      const call = { priority: 'high', status: 'open', due_date: inDays(1, 17) };
      expect(await read(api, `${TASKS}?status=open&sort_dir=asc`)).toMatchObject([
        { title: 'Send the offer' },
        { ...call, title: 'Call Alan', contact_id: alan!.id, created_by_ai: true },
        { ...call, title: 'Call Grace', contact_id: grace!.id, created_by_ai: true },
      ]);
    },
  },
  {
    title: 'A visit a day later',
    utterance: 'Grace Hopper is ill. Move her visit by a day, same time, and note why.',
    calls: 4,
    prepare: async (api) => {
      const grace = await createLead(api, { first_name: 'Grace', last_name: 'Hopper' });
      const past = await visit(api, grace, -7, { status: 'completed' });
      return { past, coming: await visit(api, grace, 3, { notes: 'Bring samples of slate.' }) };
    },
    solve: async (assistant) => {
      const lead = await assistant.findOne('lead', { 'name contains': 'Grace Hopper' });
      const found = await assistant.findOne('appointment', { lead, status: 'scheduled' });
      const appointment = await assistant.get('appointment', found);
      await assistant.act('change the times of', 'appointment', {
        appointment,
        begins: aDayLater(appointment.start_time),
        ends: aDayLater(appointment.end_time),
        notes: `${String(appointment.notes)} Moved by a day: she was ill.`,
      });
    },
    check: async (api, { past, coming }) => {
      expect(await read(api, `${APPOINTMENTS}/${coming!.id}`)).toMatchObject({
        start_time: inDays(4, 10),
        end_time: inDays(4, 11),
        status: 'scheduled',
        notes: 'Bring samples of slate. Moved by a day: she was ill.',
      });
      expect(await read(api, `${APPOINTMENTS}/${past!.id}`)).toEqual(past);
    },
  },
  {
    title: 'What is on today',
    utterance: 'What is on today? Everything open that is due, the most urgent first.',
    calls: 1,
    prepare: async (api) => ({
      letter: await todo(api, 'Answer the letter', { due_date: inDays(-1), priority: 'low' }),
      offer: await todo(api, 'Send the offer', { due_date: inDays(0, 12), priority: 'urgent' }),
      done: await todo(api, 'Order slate', { due_date: inDays(0, 12), status: 'completed' }),
      call: await todo(api, 'Call Grace', { due_date: inDays(0, 23), priority: 'high' }),
      later: await todo(api, 'Measure the roof', { due_date: inDays(1), priority: 'urgent' }),
    }),
    solve: async (assistant) => {
      const tasks = await assistant.find('tasks', {
        status: 'open',
        'due before': inDays(1),
        'ordered by': 'priority',
      });
      assistant.say(tasks.map(({ title }) => title).join(', '));
    },
    check: (_, __, said) => {
      expect(said).toEqual(['Send the offer, Call Grace, Answer the letter']);
      return Promise.resolve();
    },
  },
  {
    title: 'A visit that went well',
    utterance:
      'The visit at Alan Turing’s went well: he takes the offer, work starts in April. Close it, and make him hot.',
    calls: 4,
    prepare: async (api) => {
      const alan = await createLead(api, { first_name: 'Alan', last_name: 'Turing' });
      return { alan, visit: await visit(api, alan, -1, { status: 'confirmed' }) };
    },
    solve: async (assistant) => {
      const lead = await assistant.findOne('lead', { 'name contains': 'Alan Turing' });
      const appointment = await assistant.findOne('appointment', { lead, status: 'confirmed' });
      await assistant.act('change the status and outcome of', 'appointment', {
        appointment,
        status: 'completed',
        'what came of it': 'Offer accepted',
        'more about what came of it': 'Work starts in April.',
      });
      await assistant.act('change', 'lead', { lead, 'how likely to buy': 'hot' });
    },
    check: async (api, { alan, visit }) => {
      expect(await read(api, `${APPOINTMENTS}/${visit!.id}`)).toMatchObject({
        status: 'completed',
        outcome: 'Offer accepted',
        outcome_notes: 'Work starts in April.',
      });
      expect(await getLead(api, alan!.id)).toMatchObject({ temperature: 'hot' });
    },
  },
  {
    title: 'Someone who wants to be left alone',
    utterance:
      'Kurt Gödel does not want to hear from us again, neither by text nor by phone. Note that, and cancel whatever is coming up with him.',
    calls: 7,
    prepare: async (api) => {
      const kurt = await createLead(api, { first_name: 'Kurt', last_name: 'Gödel' });
      const ada = await createLead(api, { first_name: 'Ada' });
      const [past, first, second] = [
        await visit(api, kurt, -7, { status: 'completed' }),
        await visit(api, kurt, 2),
        await visit(api, kurt, 5, { status: 'confirmed' }),
      ];
      return { kurt, past, first, second, hers: await visit(api, ada, 2) };
    },
    solve: async (assistant) => {
      const lead = await assistant.findOne('lead', { 'name contains': 'Kurt Gödel' });
      const wish = { 'opted out of text messages': true, 'on a do-not-call list': true };
      await assistant.act('change', 'lead', { lead, ...wish });
      const coming = { lead, 'start at this time or later': NOW.toISOString() };
      for (const appointment of await assistant.find('appointments', coming)) {
        await assistant.act('cancel', 'appointment', { appointment });
      }
    },
    check: async (api, { kurt, past, first, second, hers }) => {
      const wish = { sms_opted_out: true, on_dnc_list: true };
      expect(await getLead(api, kurt!.id)).toMatchObject(wish);
      for (const { id } of [first!, second!]) {
        expect(await read(api, `${APPOINTMENTS}/${id}`)).toMatchObject({ status: 'cancelled' });
      }
      for (const kept of [past!, hers!]) {
        expect(await read(api, `${APPOINTMENTS}/${kept.id}`)).toEqual(kept);
      }
    },
  },
  {
    title: 'A missed call',
    utterance: 'I missed a call, the number ended in 0177. Who was it?',
    calls: 2,
    prepare: async (api) => ({
      alan: await createLead(api, { first_name: 'Alan', phone: '+1 415 555-01-77' }),
      grace: await createLead(api, { first_name: 'Grace', phone: '+1 415 555 0132' }),
    }),
    solve: async (assistant) => {
      const lead = await assistant.findOne('lead', { 'phone contains': '0177' });
      const caller = await assistant.get('lead', lead);
      assistant.say(`${String(caller.first_name)}, ${String(caller.phone)}`);
    },
    check: (_, __, said) => {
      expect(said).toEqual(['Alan, +1 415 555-01-77']);
      return Promise.resolve();
    },
  },
  {
    title: 'Cleaning up',
    utterance: 'I made a lead called Test Tester to try things out. Delete it.',
    calls: 3,
    prepare: async (api) => ({
      test: await createLead(api, { first_name: 'Test', last_name: 'Tester' }),
      ada: await createLead(api, { first_name: 'Ada', notes: 'Knows Test Tester.' }),
    }),
    solve: async (assistant) => {
      const lead = await assistant.findOne('lead', { 'name contains': 'Test Tester' });
      await assistant.act('delete', 'lead', { lead });
    },
    check: async (api, { test, ada }) => {
      expectError(await api.get(`${LEADS}/${test!.id}`), 404, 'not_found');
      expect(await getLead(api, ada!.id)).toEqual(ada);
    },
  },
  {
    title: 'A key that may only read',
    utterance: 'Grace Hopper has bought elsewhere. Make her a cold lead.',
    calls: 2,
    scopes: ['leads:read', 'appointments:read', 'tasks:read'],
    prepare: async (api) => ({
      grace: await createLead(api, { first_name: 'Grace', last_name: 'Hopper' }),
    }),
    solve: async (assistant) => {
      const lead = await assistant.findOne('lead', { 'name contains': 'Grace Hopper' });
      await assistant.act('change', 'lead', { lead, 'how likely to buy': 'cold' });
    },
    check: async (api, { grace }, said) => {
      expect(said).toEqual(['I cannot change the lead: the key lacks leads:write.']);
      expect(await getLead(api, grace!.id)).toEqual(grace);
    },
  },
];
