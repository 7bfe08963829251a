import { parseArgs } from 'node:util';
import { CASES, SINGLE_LEAD_CASES } from './cases.mjs';
import { GOAL_SCOPE } from './goals.mjs';
import { DEFAULT_LEADS, MAX_ORGANIZATIONS, MIN_LEADS } from './organizations.mjs';

const USAGE = `npm run bench -- [options]

  --rounds N            number of rounds, at least 1 (3; with --goals or --flat 7)
  --seconds N           seconds of each measurement under load, at least 1 (1)
  --load NAME           wrk or autocannon (wrk if it is installed)
  --print-only          do not change the figures and charts in bench
  --help                show this

Compare Latitude with other servers:
  --only CASES          some of ${CASES.join(',')} (all)
  --organizations N,M   numbers of organizations of ${SINGLE_LEAD_CASES.join(', ')}, 1 to ${MAX_ORGANIZATIONS} (1,${MAX_ORGANIZATIONS})
  --connections N,M     numbers of connections (1,8,32,128 for these cases, 1,32 for others)
  --leads N             number of leads (100000)
  --peers               also Platformatic, Directus and Strapi from npm

Compare only what the goals of the project need, and tell which of them are reached:
  --goals               measure this instead of the comparison, with Platformatic from npm

Measure requests by the size of the organization:
  --flat                measure this instead of the comparison
  --sizes N,M           sizes of the organizations, in leads (1000,10000,100000,1000000)
`;

const OPTIONS = {
  rounds: { type: 'string' },
  seconds: { type: 'string', default: '1' },
  only: { type: 'string' },
  organizations: { type: 'string' },
  connections: { type: 'string' },
  load: { type: 'string' },
  leads: { type: 'string' },
  peers: { type: 'boolean' },
  goals: { type: 'boolean' },
  flat: { type: 'boolean' },
  sizes: { type: 'string' },
  'print-only': { type: 'boolean', default: false },
  help: { type: 'boolean' },
};

/** The options that apply to one mode only. */
const OPTIONS_OF = {
  compare: ['only', 'organizations', 'connections', 'leads', 'peers'],
  goals: [],
  flat: ['sizes'],
};

const DEFAULT_ROUNDS = { compare: '3', goals: '7', flat: '7' };

/** Each round of `--flat` needs new search terms, and their number is limited. */
const MAX_ROUNDS = { compare: 999, goals: 999, flat: 50 };

const DEFAULT_SIZES = '1000,10000,100000,1000000';
const SIZES = { min: 1_000, max: 5_000_000 };
const LEADS = { min: MIN_LEADS, max: 5_000_000 };
const MAX_CONNECTIONS = 1_000;

/** The defaults of `--connections` for cases of single leads and for others. */
const CONNECTIONS = { singleLead: [1, 8, 32, 128], other: [1, 32] };

/**
 * Reads the options of `npm run bench`. Those of a comparison:
 * - `only`: the names of its cases
 * - `organizations`, `connectionsOf`: the numbers of organizations and of connections of the cases
 * - `leads`: the number of leads
 * - `peers`: whether other products are compared, or the names of some
 * - `isNeeded`: selects the targets of a case; optional
 * @returns undefined after `--help`
 */
export function readOptions(args) {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values.help) {
    console.log(USAGE);
    return undefined;
  }
  const { load, flat = false, 'print-only': printOnly } = values;
  if (load !== undefined && !['wrk', 'autocannon'].includes(load)) {
    refuse('--load must be wrk or autocannon');
  }
  if (flat && values.goals) refuse('--goals cannot be used with --flat');
  const mode = flat ? 'flat' : values.goals ? 'goals' : 'compare';
  const isOfOther = (name) => values[name] !== undefined && !OPTIONS_OF[mode].includes(name);
  const useless = Object.values(OPTIONS_OF).flat().find(isOfOther);
  if (useless) {
    refuse(
      `--${useless} cannot be used ${mode === 'compare' ? 'without --flat' : `with --${mode}`}`,
    );
  }
  const seconds = positive('--seconds', values.seconds, 999);
  const rounds = positive('--rounds', values.rounds ?? DEFAULT_ROUNDS[mode], MAX_ROUNDS[mode]);
  const { flags, ...own } = READERS[mode](values);
  const timing = ['--rounds', rounds, '--seconds', seconds];
  const modeFlag = mode === 'compare' ? [] : [`--${mode}`];
  const command = ['npm run bench --', ...modeFlag, ...timing, ...flags].join(' ');
  return { mode, rounds, seconds, load, printOnly, ...own, command };
}

const READERS = {
  compare: ofComparison,
  goals: () => ({ ...GOAL_SCOPE, leads: DEFAULT_LEADS, flags: [] }),
  flat: ofFlat,
};

function ofComparison({ only: names = CASES.join(','), peers, ...values }) {
  const only = names.split(',');
  if (!only.every((name) => CASES.includes(name))) {
    refuse(`--only must be some of ${CASES.join(',')}`);
  }
  const organizations = values.organizations
    ? numbers('--organizations', values.organizations, MAX_ORGANIZATIONS)
    : [1, MAX_ORGANIZATIONS];
  const connections =
    values.connections && numbers('--connections', values.connections, MAX_CONNECTIONS);
  const leads = values.leads === undefined ? DEFAULT_LEADS : leadsOf(values.leads);
  const flags = [
    leads !== DEFAULT_LEADS && `--leads ${leads}`,
    peers && '--peers',
    only.length < CASES.length && `--only ${only}`,
    values.organizations && `--organizations ${organizations}`,
    connections && `--connections ${connections}`,
  ].filter(Boolean);
  const connectionsOf = (name) =>
    connections ?? (SINGLE_LEAD_CASES.includes(name) ? CONNECTIONS.singleLead : CONNECTIONS.other);
  return { only, organizations, connectionsOf, leads, peers, flags };
}

function ofFlat({ sizes: list = DEFAULT_SIZES }) {
  const { min, max } = SIZES;
  const sizes = numbers('--sizes', list, max);
  if (sizes.length < 2 || sizes[0] < min) {
    refuse(`--sizes must be two or more integers from ${min} to ${max}, the smallest first`);
  }
  return { sizes, flags: list === DEFAULT_SIZES ? [] : [`--sizes ${list}`] };
}

function leadsOf(text) {
  const leads = Number(text);
  if (Number.isInteger(leads) && leads >= LEADS.min && leads <= LEADS.max) return leads;
  return refuse(`--leads must be an integer from ${LEADS.min} to ${LEADS.max}`);
}

function numbers(name, list, max) {
  const all = list.split(',').map(Number);
  const isRising = all.every((number, i) => i === 0 || number > all[i - 1]);
  if (isRising && all.every((number) => Number.isInteger(number) && number >= 1 && number <= max)) {
    return all;
  }
  return refuse(`${name} must be integers from 1 to ${max}, the smallest first`);
}

function positive(name, text, max) {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= max) return Number(text);
  return refuse(`${name} must be an integer from 1 to ${max}`);
}

function refuse(message) {
  throw new Error(`${message}\n\n${USAGE}`);
}
