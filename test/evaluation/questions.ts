import type { ApiClient } from '../../src/testing/api-client.js';
import { createLead, dataOf } from '../../src/testing/factories.js';
import { Related, type Where } from './filters.js';
import type { SalesTask } from './tasks.js';

/** A question that needs conditions, and its answer. */
interface Question {
  readonly title: string;
  readonly utterance: string;
  readonly object: 'leads' | 'tasks';
  readonly where: readonly Where[];
  /** What is counted by, if it is a question of how many. */
  readonly by?: string;
  readonly answer: string;
}

const ROOF_AGE = 'age of the roof';
const HOT_LEAD = new Related([['how likely to buy', '', 'hot']]);

const QUESTIONS: readonly Question[] = [
  {
    title: 'Old roofs',
    utterance: 'Whose roof is at least 20 years old?',
    object: 'leads',
    where: [[ROOF_AGE, 'greater than or equal', 20]],
    answer: 'Ada, Grace',
  },
  {
    title: 'Old roofs of hot leads that no one calls',
    utterance: 'Which hot leads with a roof of at least 20 years have nothing open?',
    object: 'leads',
    where: [
      ['how likely to buy', '', 'hot'],
      [ROOF_AGE, 'greater than or equal', 20],
      ['tasks', 'none', new Related([['status', '', 'open']])],
    ],
    answer: 'Ada',
  },
  {
    title: 'New roofs in a city',
    utterance: 'Who in Graz has a roof of less than 20 years?',
    object: 'leads',
    where: [
      ['city', '', 'Graz'],
      [ROOF_AGE, 'less than', 20],
    ],
    answer: 'Kurt',
  },
  {
    title: 'Where leads came from',
    utterance: 'Who came from the website or was referred to us?',
    object: 'leads',
    where: [['where it came from', 'in', ['website', 'referral']]],
    answer: 'Ada, Alan, Grace',
  },
  {
    title: 'A part of a city',
    utterance: 'Who lives where the postal code starts with 80?',
    object: 'leads',
    where: [['postal code', 'starts with', '80']],
    answer: 'Ada, Kurt',
  },
  {
    title: 'Leads without a company',
    utterance: 'Whose company is missing, with the label fair?',
    object: 'leads',
    where: [
      ['company', 'is empty', true],
      ['labels', 'has', 'fair'],
    ],
    answer: 'Kurt',
  },
  {
    title: 'Tasks of hot leads',
    utterance: 'Which urgent tasks are about hot leads?',
    object: 'tasks',
    where: [
      ['how pressing it is', '', 'urgent'],
      ['lead', '', HOT_LEAD],
    ],
    answer: 'Send the offer',
  },
  {
    title: 'How many of each source',
    utterance: 'How many hot leads came from where?',
    object: 'leads',
    by: 'source',
    where: [['how likely to buy', '', 'hot']],
    answer: 'website 2, manual 1',
  },
  {
    title: 'How many of each age',
    utterance: 'How many leads in Graz have a roof of which age?',
    object: 'leads',
    by: ROOF_AGE,
    where: [['city', '', 'Graz']],
    answer: '10 1, 30 1',
  },
  {
    title: 'How many tasks of each priority',
    utterance: 'How many tasks of hot leads are there of each priority?',
    object: 'tasks',
    by: 'priority',
    where: [['lead', '', HOT_LEAD]],
    answer: 'urgent 1',
  },
];

/** The questions as tasks of at most two calls. */
export const QUESTION_TASKS: readonly SalesTask[] = QUESTIONS.map(
  ({ title, utterance, object, where, by, answer }) => ({
    title,
    utterance,
    calls: 2,
    administers: true,
    prepare,
    solve: async (assistant) => {
      const counting = { 'what to count': object.slice(0, -1), 'counts by': by };
      const verb = by === undefined ? 'find' : 'count';
      const { data } = await assistant.ask(verb, object, by === undefined ? {} : counting, where);
      const rows = data as Readonly<Record<string, unknown>>[];
      const names = rows.map((row) => String(row.first_name ?? row.title)).sort();
      const counts = rows.map(({ value, count }) => `${String(value)} ${String(count)}`);
      assistant.say((by === undefined ? names : counts).join(', '));
    },
    check: (_, __, said) => {
      expect(said).toEqual([answer]);
      return Promise.resolve();
    },
  }),
);

/** Defines a field, and creates leads with it and tasks. */
async function prepare(api: ApiClient) {
  const field = { key: 'roof_age', type: 'number', description: 'Age of the roof.' };
  dataOf(await api.post('/api/v1/custom-fields', field), 201);
  const lead = (first_name: string, roof_age: number, fields: object) =>
    createLead(api, { first_name, custom_fields: { roof_age }, temperature: 'hot', ...fields });
  const graz = { city: 'Graz', zip: '8010' };
  await lead('Ada', 30, { ...graz, source: 'website', company: 'Harbor' });
  const grace = await lead('Grace', 25, { source: 'website', company: 'Navy' });
  await lead('Kurt', 10, { ...graz, source: 'manual', tags: ['fair'] });
  await lead('Alan', 5, { source: 'referral', temperature: 'cold', company: 'Bletchley' });
  const offer = { title: 'Send the offer', contact_id: grace.id, priority: 'urgent' };
  dataOf(await api.post('/api/v1/tasks', offer), 201);
  dataOf(await api.post('/api/v1/tasks', { title: 'Order slate', priority: 'urgent' }), 201);
  return {};
}
