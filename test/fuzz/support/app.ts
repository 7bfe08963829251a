import type { Settings } from '../../../src/config/settings.js';
import { UnlimitedTimeBudget } from '../../../src/database/gateway/time-budget.js';
import { TestApp } from '../../../src/testing/test-app.js';

/** Starts an application whose statements have no timeout, because a busy machine may exceed that of a server. */
export function startApp(settings: Partial<Settings> = {}): Promise<TestApp> {
  return TestApp.start({ settings, timeBudget: new UnlimitedTimeBudget() });
}
