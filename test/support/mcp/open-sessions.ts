import { SessionStore } from '../../../src/modules/mcp/sessions/session-store.js';
import type { Session } from '../../../src/modules/mcp/sessions/session.js';
import type { TestApp } from '../../../src/testing/test-app.js';

/** Finds the open sessions of an instance, by default of the suite's own. */
export function openSessions(main: () => TestApp) {
  const sessionsOf = (app = main()): Session[] => [...app.app.get(SessionStore).all()];
  return {
    sessionsOf,
    sessionOf: (id: string, app = main()) => sessionsOf(app).find((session) => session.id === id),
  };
}
