import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';

/**
 * Runs long work and shows its progress.
 * @param total the sum of the units that are passed to `advance`
 */
export type Progress = <T>(
  total: number,
  work: (advance: (by: number) => void) => Promise<T>,
) => Promise<T>;

/** The work of a command with the services of the application. Its result is printed. */
export type Action = (app: INestApplicationContext, progress: Progress) => Promise<unknown>;

/** Starts the application, runs an action and prints its result. */
export type Run = (action: Action) => Promise<void>;

/** Adds commands to the command line. Their actions call `run`. */
export type AddCommands = (program: Command, run: Run) => void;
