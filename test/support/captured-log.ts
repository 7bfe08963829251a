import { setLogLevel, setLogOutput } from '../../src/config/logger.js';
import type { LogLevel } from '../../src/config/settings.js';

/**
 * Captures the log during each test of the surrounding `describe`, or of the file.
 * @param level of each test; without it, that of the server that the test starts
 * @returns the lines of the running test
 */
export function captureLog(level?: LogLevel): readonly string[] {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    setLogOutput({ write: (line: string) => lines.push(line) });
    if (level) setLogLevel(level);
  });
  afterEach(() => {
    setLogOutput(process.stdout);
    setLogLevel('silent');
  });
  return lines;
}
