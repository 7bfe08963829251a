import { captureLog } from '../../support/captured-log.js';
import { withLoggedWarnings } from '../../../src/platform/config/logger.js';

describe('withLoggedWarnings', () => {
  const log = captureLog('warn');

  it('writes the warnings of a package to the log while it is loaded, and no later ones', async () => {
    const printed = jest.spyOn(console, 'warn').mockImplementation();
    const loaded = await withLoggedWarnings(async () => {
      await Promise.resolve();
      console.warn('%s WARNING: %d', 'package', 20);
      return 'loaded';
    });
    expect(loaded).toBe('loaded');
    expect(printed).not.toHaveBeenCalled();
    console.warn('later');
    expect(printed).toHaveBeenCalledTimes(1);
    printed.mockRestore();
    expect(log.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 40, msg: 'package WARNING: 20' },
    ]);
  });
});
