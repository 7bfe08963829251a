import { parseArgs } from 'node:util';
import { CASES } from './cases.mjs';

const USAGE = `npm run bench -- [options]

  --rounds N      how often everything is measured, at least 1 (7)
  --seconds N     how long one measurement lasts, at least 1 (1)
  --only CASES    some of ${CASES.join(',')} (all)
  --load NAME     wrk or autocannon (wrk where it is installed)
  --full          1,000,000 leads instead of 100,000
  --peers         Directus and Strapi from npm beside them, where they install
  --print-only    leave the figures and the picture in bench as they are
  --help          show this
`;

/** @returns undefined when the usage was asked for, and shown */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '1' },
      only: { type: 'string', default: CASES.join(',') },
      load: { type: 'string' },
      full: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      'print-only': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return undefined;
  }
  if (values.load !== undefined && !['wrk', 'autocannon'].includes(values.load)) {
    throw new Error(`--load must be wrk or autocannon\n\n${USAGE}`);
  }
  const { load, full, peers, 'print-only': printOnly } = values;
  const only = values.only.split(',');
  if (!only.every((name) => CASES.includes(name))) {
    throw new Error(`--only must be some of ${CASES.join(',')}\n\n${USAGE}`);
  }
  const rounds = positive('--rounds', values.rounds);
  const seconds = positive('--seconds', values.seconds);
  const flags = [
    full && '--full',
    peers && '--peers',
    only.length < CASES.length && `--only ${only}`,
  ];
  const command = [
    'npm run bench -- --rounds',
    rounds,
    '--seconds',
    seconds,
    ...flags.filter(Boolean),
  ];
  return { rounds, seconds, only, load, full, peers, printOnly, command: command.join(' ') };
}

function positive(name, text) {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new Error(`${name} must be an integer from 1 to 999\n\n${USAGE}`);
}
