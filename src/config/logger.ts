import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { serializeError } from './error-serializer.js';
import type { LogLevel } from './settings.js';

/** Standard output: JSON lines, or readable lines in a terminal. */
let output: DestinationStream = process.stdout.isTTY
  ? pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', sync: true })
  : bufferWrites(pino.destination());

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

/** Sets the lowest level that is logged. */
export function setLogLevel(level: LogLevel): void {
  logger.level = level;
}

/** Lines are written in batches, because each write is expensive. */
const FLUSH_INTERVAL_MS = 10;

function bufferWrites(destination: DestinationStream): DestinationStream {
  let pending = '';
  const flush = () => {
    if (pending !== '') destination.write(pending);
    pending = '';
  };
  process.once('exit', flush);
  return {
    write: (line) => {
      if (pending === '') setTimeout(flush, FLUSH_INTERVAL_MS);
      pending += line;
    },
  };
}

/** Writes Nest's messages to the same log. Its `log` messages have the level `debug`. */
export class NestLogger implements LoggerService {
  log(message: unknown, ...rest: unknown[]): void {
    logger.debug({ context: rest.at(-1) }, String(message));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    logger.warn({ context: rest.at(-1) }, String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    const err = message instanceof Error ? message : undefined;
    logger.error(
      { context: rest.at(-1), err, stack: err ? undefined : rest.at(0) },
      String(message),
    );
  }
}
