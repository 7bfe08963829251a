import { format } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import { serializeError } from './error-serializer.js';
import type { Settings } from './settings.js';
import { writeSynchronously } from './standard-output.js';

/** How long lines are collected before they are written together, because each write is expensive. */
const FLUSH_INTERVAL_MS = 10;

/** Longer writes of several processes to one pipe can be mixed. */
const MAX_WRITE_LENGTH = 4_096;

/** Lines that are not written yet. */
let pending = '';
let hasReportedLoss = false;
process.once('exit', flushLog);

/** By default JSON lines on standard output. */
let output: DestinationStream = {
  write: (line) => {
    if (pending.length + line.length > MAX_WRITE_LENGTH) flushLog();
    if (pending === '') setTimeout(flushLog, FLUSH_INTERVAL_MS);
    pending += line;
  },
};

/** The logger of the process. */
export const logger: Logger = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: serializeError } },
  {
    write: (line) => {
      output.write(line);
    },
  },
);

/** Sends the log to a stream instead of standard output. */
export function setLogOutput(stream: DestinationStream): void {
  output = stream;
}

/** Writes readable lines, one for each message, if standard output is a terminal. */
export async function formatForTerminal(): Promise<void> {
  if (!process.stdout.isTTY) return;
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({ translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  setLogOutput({
    write: (line) => {
      writeOrLose(format(line));
    },
  });
}

/** Loads a package. A warning that it prints while it is loaded is written to the log. */
export async function withLoggedWarnings<T>(load: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = (...values: unknown[]) => {
    logger.warn(format(...values));
  };
  try {
    return await load();
  } finally {
    console.warn = warn;
  }
}

/** Writes the collected lines. */
export function flushLog(): void {
  const text = pending;
  pending = '';
  if (text !== '') writeOrLose(text);
}

/** A full disk or a closed pipe loses lines of the log. It must not stop the service. */
function writeOrLose(text: string): void {
  try {
    writeSynchronously(text);
  } catch (error) {
    if (hasReportedLoss) return;
    hasReportedLoss = true;
    process.stderr.on('error', () => undefined);
    process.stderr.write(`latitude: lines of the log are lost: ${(error as Error).message}\n`);
  }
}

/**
 * Writes an entry of the audit log as a line, whatever the level of the log.
 * @param isCommand whether it is written to standard error, because the result of a command is on standard output
 */
export function writeAuditLine(entry: object, isCommand: boolean): void {
  const line = { level: pino.levels.values.info, time: new Date(), msg: 'audit', audit: entry };
  const text = `${JSON.stringify(line)}\n`;
  if (isCommand) process.stderr.write(text);
  else output.write(text);
}

/** Sets the lowest level that is logged. */
export function setLogLevel(level: Settings['logLevel']): void {
  logger.level = level;
}
