import { setLogLevel, setLogOutput } from '../../src/config/logger.js';

/**
 * Captures the log during each test of the surrounding `describe`.
 * @returns the lines of the running test
 */
export function captureLog(): readonly string[] {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    setLogOutput({ write: (line: string) => lines.push(line) });
  });
  afterEach(() => {
    setLogOutput(process.stdout);
    setLogLevel('silent');
  });
  return lines;
}
