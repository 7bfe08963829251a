import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { LevelWithSilent } from 'pino';
import { logger } from './logger.js';

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
