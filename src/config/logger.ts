import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import { serializeError } from './error-serializer.js';
import type { LogLevel } from './settings.js';

/** Standard output: one JSON line an event, or readable lines in a terminal. */
let output: DestinationStream = process.stdout.isTTY
  ? pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', sync: true })
  : bufferWrites(pino.destination());

/** The log of the process. */
export const logger: Logger = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: serializeError } },
  {
    write: (line) => {
      output.write(line);
    },
  },
);

/** Sends the log elsewhere than to standard output. */
export function setLogOutput(stream: DestinationStream): void {
  output = stream;
}

/** Sets the least severe level that is written. */
export function setLogLevel(level: LogLevel): void {
  logger.level = level;
}

/** A line waits for others at most this long, because a write costs as much as many lines. */
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

/** Nest's own messages in the same log; what start-up says line by line is for debugging. */
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
