import { COMMON_TERMS, NEW_LEAD } from '../lib/cases.mjs';
import { FIRST_USER } from './records.mjs';

export const LIMIT = 50;
const DIRECTIONS = ['asc', 'desc'];

/** Goals: the largest p50 at the largest size, as a multiple of a reference. */
const CONSTANT = { to: 'smallest', max: 1.5 };
const NEARLY_CONSTANT = { to: 'smallest', max: 3 };
const LAST_PAGE = { to: 'first page', max: 5 };
const COMMON_TOTAL = { to: 'scan', max: 0.4 };
const SHORT_TERM = { to: 'scan', max: 0.5 };

/** The list that others are compared with. */
export const FIRST_PAGE = 'first page, created_at desc';

/** A term that no lead contains. */
const SHORT = 'zq';
const [REPEATED_SEARCH, ...OTHER_TERMS] = COMMON_TERMS;

/** Smallest length of a part of a name that is as selective as the whole name. */
const LETTERS = 5;

/** Search terms whose totals are not cached, because each is used once. */
const FIRST_TIME_SEARCHES = OTHER_TERMS.flatMap((name) => partsOf(name.toLowerCase()));

const list = (resource, organization, more) => {
  const paging = 'after' in more ? {} : { page: 1 };
  return { type: 'list', organization, resource, ...paging, limit: LIMIT, ...more };
};

function partsOf(name) {
  const lengths = Array.from({ length: name.length - LETTERS + 1 }, (_, i) => LETTERS + i);
  return lengths.flatMap((length) =>
    Array.from({ length: name.length - length + 1 }, (_, i) => name.slice(i, i + length)),
  );
}

/**
 * A case of a list.
 * @param parameters makes the query parameters for a sample, or several that are used in turn
 */
function listCase(resource, name, goal, parameters, more = {}) {
  const operations = (sample) =>
    [parameters(sample)].flat().map((one) => list(resource, sample.organization, one));
  const title = resource === 'leads' ? name : `${resource}: ${name}`;
  return { title, goal, operations, resource, ...more };
}

function firstPages(resource, sorts) {
  return sorts.flatMap((sort_by) =>
    DIRECTIONS.map((sort_dir) => {
      const title = `first page, ${sort_by} ${sort_dir}`;
      const chartLabel = resource === 'leads' && title === FIRST_PAGE && 'first page';
      return listCase(resource, title, CONSTANT, () => ({ sort_by, sort_dir }), { chartLabel });
    }),
  );
}

const LEADS = [
  {
    title: 'get by id',
    goal: CONSTANT,
    chartLabel: 'get',
    operations: ({ organization, ids }) => ids.map((id) => ({ type: 'get', organization, id })),
  },
  {
    title: 'create',
    goal: CONSTANT,
    chartLabel: 'create',
    writes: 'created',
    operations: ({ organization }) => [{ type: 'create', organization, record: NEW_LEAD }],
  },
  ...firstPages('leads', ['created_at', 'updated_at', 'first_name', 'last_name', 'lead_score']),
  listCase('leads', 'status', CONSTANT, () => ({ status: 'won' }), { chartLabel: 'status' }),
  listCase('leads', 'temperature', CONSTANT, () => ({ temperature: 'hot' })),
  listCase('leads', 'source', CONSTANT, () => ({ source: 'referral' })),
  listCase('leads', 'tag of three in ten leads, again', NEARLY_CONSTANT, () => ({ tag: 'vip' })),
  listCase(
    ...['leads', 'search that finds one lead', NEARLY_CONSTANT],
    ({ rare }) => rare.map((search) => ({ search })),
    { chartLabel: 'rare search' },
  ),
  listCase('leads', 'search that finds every 20th lead, again', NEARLY_CONSTANT, () => {
    return { search: REPEATED_SEARCH };
  }),
  listCase(
    ...['leads', 'search that finds every 20th lead, the first time', COMMON_TOTAL],
    () => FIRST_TIME_SEARCHES.map((search) => ({ search })),
    { scans: OTHER_TERMS[0].toLowerCase() },
  ),
  listCase(
    'leads',
    'search for two characters, finds none',
    SHORT_TERM,
    () => ({ search: SHORT }),
    {
      scans: SHORT,
    },
  ),
  listCase('leads', 'window of 100 by created_at', NEARLY_CONSTANT, ({ leadWindows }) =>
    leadWindows.map(({ since, until }) => ({ created_after: since, created_before: until })),
  ),
  listCase('leads', 'window of 100 by updated_at', NEARLY_CONSTANT, ({ updateWindows }) =>
    updateWindows.map(({ since, until }) => ({ updated_after: since, updated_before: until })),
  ),
  listCase('leads', 'by cursor, all fields, first page', CONSTANT, () => {
    return { after: '', fields: '*' };
  }),
  listCase('leads', 'by cursor, all fields, in the middle', CONSTANT, ({ middle }) => {
    return { after: middle, fields: '*' };
  }),
  listCase(
    ...['leads', 'last page', LAST_PAGE],
    ({ organization }) => ({ page: Math.ceil(organization.size / LIMIT) }),
    { chartLabel: 'last page' },
  ),
];

const APPOINTMENTS = [
  ...firstPages('appointments', ['start_time', 'created_at', 'updated_at']),
  listCase('appointments', 'status', CONSTANT, () => ({ status: 'confirmed' })),
  listCase('appointments', 'lead_id', CONSTANT, ({ ids }) => ids.map((lead_id) => ({ lead_id }))),
  listCase(
    'appointments',
    'window of 100 by start_time',
    NEARLY_CONSTANT,
    ({ appointmentWindows }) =>
      appointmentWindows.map(({ since, until }) => ({ start_after: since, start_before: until })),
  ),
];

const TASKS = [
  ...firstPages('tasks', ['due_date', 'created_at', 'updated_at', 'priority']),
  listCase('tasks', 'priority', CONSTANT, () => ({ priority: 'urgent' })),
  listCase('tasks', 'status', CONSTANT, () => ({ status: 'in_progress' })),
  listCase('tasks', 'assigned_to', CONSTANT, () => ({ assigned_to: FIRST_USER })),
  listCase('tasks', 'contact_id', CONSTANT, ({ ids }) => ids.map((contact_id) => ({ contact_id }))),
  listCase('tasks', 'due_before, finds 100', NEARLY_CONSTANT, ({ due }) => ({ due_before: due })),
];

export const FLAT_CASES = [...LEADS, ...APPOINTMENTS, ...TASKS];
