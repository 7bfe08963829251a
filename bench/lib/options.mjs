import { parseArgs } from 'node:util';

const USAGE = `npm run bench -- [options]

  --rounds N      how often everything is measured, at least 1 (15)
  --seconds N     how long one measurement lasts, at least 1 (1)
  --load NAME     wrk or autocannon (wrk where it is installed)
  --print-only    leave the figures in bench/README.md as they are
`;

/** @returns undefined when the usage was asked for, and shown */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '15' },
      seconds: { type: 'string', default: '1' },
      load: { type: 'string' },
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
  return {
    rounds: positive('--rounds', values.rounds),
    seconds: positive('--seconds', values.seconds),
    load: values.load,
    printOnly: values['print-only'],
  };
}

function positive(name, text) {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new Error(`${name} must be an integer from 1 to 999\n\n${USAGE}`);
}
