import { setLogLevel, setLogOutput } from '../../src/platform/config/logger.js';
import type { LogLevel } from '../../src/platform/config/settings.js';
import type { Answer } from '../../src/testing/api-client.js';
import { testLog } from '../../src/testing/test-log.js';

/**
 * Captures the log during the tests of the surrounding `describe`, or of the file.
 * @param level of each test; without it, that of the server that the test starts
 * @returns the lines of the running test
 */
export function captureLog(level?: LogLevel): readonly string[] {
  const lines: string[] = [];
  beforeAll(() => {
    setLogOutput({ write: (line: string) => lines.push(line) });
  });
  beforeEach(() => {
    lines.length = 0;
    if (level) setLogLevel(level);
  });
  afterEach(() => {
    setLogLevel('silent');
  });
  afterAll(() => {
    setLogOutput(testLog);
  });
  return lines;
}

/** Returns the captured lines of the request with this answer. */
export function linesOf(log: readonly string[], { headers }: Answer): Record<string, unknown>[] {
  const id = headers.get('x-request-id');
  return log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ request_id }) => request_id === id);
}
