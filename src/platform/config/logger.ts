import { format } from 'node:util';
import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
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

/** Writes readable lines if standard output is a terminal. */
export async function formatForTerminal(): Promise<void> {
  if (!process.stdout.isTTY) return;
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({ translateTime: 'SYS:HH:MM:ss.l' });
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

/** Sets the lowest level that is logged. */
export function setLogLevel(level: Settings['logLevel']): void {
  logger.level = level;
}

/**
 * What Nest writes while it starts, by context and level, such as a line for each route. It also throws the errors that
 * end the start, and the program reports them.
 */
const STARTUP_LINES: ReadonlyMap<string | undefined, LogLevel> = new Map([
  ['ExceptionHandler', 'error'],
  ['InstanceLoader', 'log'],
  ['NestApplication', 'log'],
  ['NestFactory', 'log'],
  ['RouterExplorer', 'log'],
  ['RoutesResolver', 'log'],
]);

/** Writes the messages of Nest's `Logger` to the same log. The inherited methods tell context and stack from messages. */
export class NestLogger extends ConsoleLogger {
  constructor() {
    super({ structuredParams: false });
  }

  protected override printMessages(
    messages: unknown[],
    context?: string,
    level: LogLevel = 'log',
    _stream?: 'stdout' | 'stderr',
    stack?: unknown,
  ): void {
    const values = messages.filter((value) => value !== undefined);
    const err = values.find((value) => value instanceof Error);
    const texts = values.filter((value) => typeof value !== 'object' || value === null);
    const data = values.filter((value) => !texts.includes(value) && value !== err);
    logger[STARTUP_LINES.get(context) === level ? 'debug' : PINO_LEVELS[level]](
      { context, err, ...(data.length > 0 && { data }), stack },
      texts.length > 0 ? texts.map(String).join(' ') : err?.name,
    );
  }

  /** The stack is in the line of the message. */
  protected override printStackTrace(): void {
    return undefined;
  }
}

const PINO_LEVELS = {
  verbose: 'trace',
  debug: 'debug',
  log: 'info',
  warn: 'warn',
  error: 'error',
  fatal: 'fatal',
} as const satisfies Record<LogLevel, LevelWithSilent>;
