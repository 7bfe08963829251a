import type { Type } from '@nestjs/common';
import type { createDatabase } from '../../src/testing/databases.js';
import { TestApp } from '../../src/testing/test-app.js';

/**
 * Starts an application with a module on a database.
 * @returns the lines of the message with which the start fails, or `started`
 */
export async function failureOfStart(
  module: Type<unknown>,
  database: Awaited<ReturnType<typeof createDatabase>>,
): Promise<string[]> {
  try {
    const app = await TestApp.start({ modules: [module], database });
    await app.stop();
    return ['started'];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}
