import { COMMON_TERMS, NEW_LEAD } from '../lib/cases.mjs';
import { FIRST_USER } from './records.mjs';

export const LIMIT = 50;
const DIRECTIONS = ['asc', 'desc'];

/** What the p50 at the largest size may be, as a multiple of what. */
const EVEN = { to: 'smallest', most: 1.5 };
const NEARLY_EVEN = { to: 'smallest', most: 3 };
const LAST_PAGE = { to: 'first page', most: 5 };
const COMMON_TOTAL = { to: 'scan', most: 0.4 };
const SHORT_TERM = { to: 'scan', most: 0.5 };

/** The newest leads: the list that others are compared with. */
export const FIRST_PAGE = 'first page, created_at desc';

/** No lead has it. */
const SHORT = 'zq';
const [AGAIN, ...OTHERS] = COMMON_TERMS;

/** Parts of a name that are as telling as all of it. */
const LETTERS = 5;

/** Searches whose totals the server cannot remember, because each is made once. */
const NEVER_MADE = OTHERS.flatMap((name) => partsOf(name.toLowerCase()));

const list = (resource, organization, more) => {
  return { does: 'list', organization, resource, page: 1, limit: LIMIT, ...more };
};

function partsOf(name) {
  const lengths = Array.from({ length: name.length - LETTERS + 1 }, (_, i) => LETTERS + i);
  return lengths.flatMap((length) =>
    Array.from({ length: name.length - length + 1 }, (_, i) => name.slice(i, i + length)),
  );
}

/**
 * A list that is asked for in each organization.
 * @param parameters of a sample: one choice of them, or several that are taken in turn
 */
function listCase(resource, name, goal, parameters, more = {}) {
  const asks = (sample) =>
    [parameters(sample)].flat().map((one) => list(resource, sample.organization, one));
  const title = resource === 'leads' ? name : `${resource}: ${name}`;
  return { title, goal, asks, resource, ...more };
}

function firstPages(resource, sorts) {
  return sorts.flatMap((sort_by) =>
    DIRECTIONS.map((sort_dir) => {
      const title = `first page, ${sort_by} ${sort_dir}`;
      const pictured = resource === 'leads' && title === FIRST_PAGE && 'first page';
      return listCase(resource, title, EVEN, () => ({ sort_by, sort_dir }), { pictured });
    }),
  );
}

const LEADS = [
  {
    title: 'get by id',
    goal: EVEN,
    pictured: 'get',
    asks: ({ organization, ids }) => ids.map((id) => ({ does: 'get', organization, id })),
  },
  {
    title: 'create',
    goal: EVEN,
    pictured: 'create',
    writes: 'created',
    asks: ({ organization }) => [{ does: 'create', organization, lead: NEW_LEAD }],
  },
  ...firstPages('leads', ['created_at', 'updated_at', 'first_name', 'last_name', 'lead_score']),
  listCase('leads', 'status', EVEN, () => ({ status: 'won' }), { pictured: 'status' }),
  listCase('leads', 'temperature', EVEN, () => ({ temperature: 'hot' })),
  listCase(
    ...['leads', 'search that finds one lead', NEARLY_EVEN],
    ({ rare }) => rare.map((search) => ({ search })),
    { pictured: 'rare search' },
  ),
  listCase('leads', 'search that finds every 20th lead, again', NEARLY_EVEN, () => {
    return { search: AGAIN };
  }),
  listCase(
    ...['leads', 'search that finds every 20th lead, the first time', COMMON_TOTAL],
    () => NEVER_MADE.map((search) => ({ search })),
    { scans: OTHERS[0].toLowerCase() },
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
  listCase('leads', 'window of 100 by created_at', NEARLY_EVEN, ({ leadWindows }) =>
    leadWindows.map(({ since, until }) => ({ created_after: since, created_before: until })),
  ),
  listCase(
    ...['leads', 'last page', LAST_PAGE],
    ({ organization }) => ({ page: Math.ceil(organization.size / LIMIT) }),
    { pictured: 'last page' },
  ),
];

const APPOINTMENTS = [
  ...firstPages('appointments', ['start_time', 'created_at']),
  listCase('appointments', 'status', EVEN, () => ({ status: 'confirmed' })),
  listCase('appointments', 'lead_id', EVEN, ({ ids }) => ids.map((lead_id) => ({ lead_id }))),
  listCase('appointments', 'window of 100 by start_time', NEARLY_EVEN, ({ appointmentWindows }) =>
    appointmentWindows.map(({ since, until }) => ({ start_after: since, start_before: until })),
  ),
];

const TASKS = [
  ...firstPages('tasks', ['due_date', 'created_at', 'priority']),
  listCase('tasks', 'status', EVEN, () => ({ status: 'in_progress' })),
  listCase('tasks', 'assigned_to', EVEN, () => ({ assigned_to: FIRST_USER })),
  listCase('tasks', 'contact_id', EVEN, ({ ids }) => ids.map((contact_id) => ({ contact_id }))),
  listCase('tasks', 'due_before, finds 100', NEARLY_EVEN, ({ due }) => ({ due_before: due })),
];

export const FLAT_CASES = [...LEADS, ...APPOINTMENTS, ...TASKS];
