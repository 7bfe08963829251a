import type { Settings } from '../../src/platform/config/settings.js';
import type { DatabaseTarget } from '../../src/platform/data/connection/data-source-options.js';
import type { Answer } from '../../src/testing/api-client.js';
import { createDatabase, dropDatabase } from '../../src/testing/databases.js';
import { expectError } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';

export const WINDOW_SECONDS = 60;

export type StartInstance = (settings?: Partial<Settings>) => Promise<TestApp>;

/** Returns a function that starts instances on one database, each with its own counters. */
export function instancesOnOneDatabase(): StartInstance {
  const apps: TestApp[] = [];
  let database: DatabaseTarget;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await dropDatabase(database);
  });
  return async (settings = {}) => {
    const app = await TestApp.start({ settings, database });
    apps.push(app);
    return app;
  };
}

export interface Limits {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** Reads the rate limit headers. Each must be an integer. */
export function limitsOf({ headers }: Pick<Answer, 'headers'>): Limits {
  const read = (name: string) => {
    const value = headers.get(name) ?? '';
    expect({ [name]: value }).toEqual({ [name]: expect.stringMatching(/^\d+$/) as string });
    return Number(value);
  };
  return {
    limit: read('RateLimit-Limit'),
    remaining: read('RateLimit-Remaining'),
    reset: read('RateLimit-Reset'),
  };
}

/** Expects a 429 with valid headers. */
export function expectRefusal(answer: Answer): void {
  expectError(answer, 429, 'rate_limit_exceeded');
  expect(answer.body).toMatchObject({ error: { retryable: true } });
  const retryAfter = answer.headers.get('retry-after') ?? '';
  expect(retryAfter).toMatch(/^\d+$/);
  expect(Number(retryAfter)).toBeGreaterThan(0);
  expect(Number(retryAfter)).toBeLessThanOrEqual(WINDOW_SECONDS);
  expect(limitsOf(answer).remaining).toBe(0);
}

/** Repeats a request until it is 429. Returns the number of requests before. */
export async function countUntilRefused(call: () => Promise<Answer>): Promise<number> {
  for (let count = 0; count < 100; count++) {
    const answer = await call();
    if (answer.status !== 429) continue;
    expectRefusal(answer);
    return count;
  }
  throw new Error('nothing was refused');
}
