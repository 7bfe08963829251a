import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import { logErrorMessages, serializeError } from './error-serializer.js';
import type { LogErrors, LogLevel } from './settings.js';
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
export function setLogLevel(level: LogLevel): void {
  logger.level = level;
}

/** Sets what is logged of errors. */
export function setLogErrors(errors: LogErrors): void {
  logErrorMessages(errors === 'full');
}

/** Contexts of the lines that Nest writes while it starts, such as one for each route. */
const NEST_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** The context of errors that end the start of Nest. Nest also throws them, and the program reports them. */
const NEST_FAILURES = 'ExceptionHandler';

/** Writes the messages of Nest's `Logger` to the same log. */
export class NestLogger implements LoggerService {
  log(message: unknown, ...rest: unknown[]): void {
    write(NEST_CONTEXTS.has(rest.at(-1)) ? 'debug' : 'info', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    write('fatal', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) === NEST_FAILURES) {
      write('debug', message, rest);
      return;
    }
    const [stack] = rest;
    // The second argument is a stack trace if a context follows it.
    if (rest.length === 2 && typeof stack === 'string') {
      write('error', message, rest.slice(1), { stack });
    } else write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    write('trace', message, rest);
  }
}

/** @param rest additional values; the last one is the context if it is a string */
function write(
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
  message: unknown,
  rest: readonly unknown[],
  properties: object = {},
): void {
  const last = rest.at(-1);
  const context = typeof last === 'string' ? last : undefined;
  const others = context === undefined ? rest : rest.slice(0, -1);
  const values = [message, ...others].filter((value) => value !== undefined);
  const err = values.find((value) => value instanceof Error);
  const texts = values.filter((value) => typeof value !== 'object' || value === null);
  const objects = values.filter((value) => typeof value === 'object' && value !== null);
  const data = objects.filter((value) => value !== err);
  logger[level](
    { context, err, ...(data.length > 0 && { data }), ...properties },
    texts.length > 0 ? texts.map(String).join(' ') : err?.name,
  );
}
