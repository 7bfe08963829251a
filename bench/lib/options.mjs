import { parseArgs } from 'node:util';
import { CASES } from './cases.mjs';

const USAGE = `npm run bench -- [options]

  --rounds N      number of rounds, at least 1 (7)
  --seconds N     seconds of each measurement under load, at least 1 (1)
  --load NAME     wrk or autocannon (wrk if it is installed)
  --print-only    do not change the figures and charts in bench
  --help          show this

Compare Latitude with other servers:
  --only CASES    some of ${CASES.join(',')} (all)
  --full          1,000,000 leads instead of 100,000
  --peers         also Directus and Strapi from npm

Measure requests by the size of the organization:
  --flat          measure this instead of the comparison
  --sizes N,M     sizes of the organizations, in leads (1000,10000,100000,1000000)
`;

const OPTIONS = {
  rounds: { type: 'string', default: '7' },
  seconds: { type: 'string', default: '1' },
  only: { type: 'string' },
  load: { type: 'string' },
  full: { type: 'boolean' },
  peers: { type: 'boolean' },
  flat: { type: 'boolean' },
  sizes: { type: 'string' },
  'print-only': { type: 'boolean', default: false },
  help: { type: 'boolean' },
};

/** Options that apply to one mode only. */
const ONLY_COMPARING = ['only', 'full', 'peers'];
const ONLY_FLAT = ['sizes'];

const DEFAULT_SIZES = '1000,10000,100000,1000000';
const SIZES = { least: 1_000, most: 5_000_000 };

/** @returns undefined after `--help` */
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
  const useless = (flat ? ONLY_COMPARING : ONLY_FLAT).find((name) => values[name] !== undefined);
  if (useless) refuse(`--${useless} cannot be used ${flat ? 'with' : 'without'} --flat`);
  const seconds = positive('--seconds', values.seconds, 999);
  const { flags, ...own } = flat ? ofFlat(values) : ofComparison(values);
  const timing = ['--rounds', own.rounds, '--seconds', seconds];
  const command = ['npm run bench --', ...(flat ? ['--flat'] : []), ...timing, ...flags].join(' ');
  return { flat, seconds, load, printOnly, ...own, command };
}

function ofComparison({ rounds: text, only: names = CASES.join(','), full, peers }) {
  const only = names.split(',');
  if (!only.every((name) => CASES.includes(name))) {
    refuse(`--only must be some of ${CASES.join(',')}`);
  }
  const rounds = positive('--rounds', text, 999);
  const some = only.length < CASES.length && `--only ${only}`;
  const flags = [full && '--full', peers && '--peers', some].filter(Boolean);
  return { rounds, only, full, peers, flags };
}

function ofFlat({ rounds: text, sizes: list = DEFAULT_SIZES }) {
  const sizes = list.split(',').map(Number);
  const { least, most } = SIZES;
  const isRising = sizes.every((size, i) => i === 0 || size > sizes[i - 1]);
  const areSizes = sizes.every((size) => Number.isInteger(size) && size >= least && size <= most);
  if (sizes.length < 2 || !isRising || !areSizes) {
    refuse(`--sizes must be two or more integers from ${least} to ${most}, the smallest first`);
  }
  // Each round needs new search terms, and their number is limited.
  const rounds = positive('--rounds', text, 50);
  return { rounds, sizes, flags: list === DEFAULT_SIZES ? [] : [`--sizes ${list}`] };
}

function positive(name, text, most) {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= most) return Number(text);
  return refuse(`${name} must be an integer from 1 to ${most}`);
}

function refuse(message) {
  throw new Error(`${message}\n\n${USAGE}`);
}
