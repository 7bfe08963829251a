import { EventPublisher } from '../../../src/modules/events/event-publisher.js';
import { BackgroundWork } from '../../../src/platform/jobs/background-work.js';
import { connectTenant, type McpTenant } from '../id-positions.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { ProtocolMode } from '../mcp/mcp-sdk-clients.js';
import { StatementRecorder } from './statement-recorder.js';
import { recordTables } from './tenant-tables.js';

/** The layers that isolate organizations: both together, as in production, and each alone. */
export const LAYERS = {
  'by both layers': { filters: true, policies: true },
  'by row-level security alone': { filters: false, policies: true },
  "by the application's own filters alone": { filters: true, policies: false },
} as const satisfies Record<string, Layer>;

export type Layer = Readonly<Record<'filters' | 'policies', boolean>>;

/** An application with two organizations, one for each protocol mode of /mcp. */
export interface IsolationTest {
  readonly app: TestApp;
  /** Tables with records. */
  readonly tables: readonly string[];
  readonly statements: StatementRecorder;
  readonly ours: McpTenant;
  readonly theirs: McpTenant;
}

/** Starts an application with only the given isolation layers. */
export async function startWithLayer(layer: Layer): Promise<IsolationTest> {
  const app = await TestApp.start();
  await stopBackgroundWork(app);
  const tables = await recordTables(app);
  if (!layer.policies) {
    for (const table of tables) await app.sql(`alter table ${table} disable row level security`);
  }
  const statements = new StatementRecorder(app, layer);
  const join = async (protocolMode: ProtocolMode) =>
    connectTenant(app, await app.organization({ scopes: app.scopes.every }), protocolMode);
  const [ours, theirs] = await Promise.all([join('sessions'), join('stateless')]);
  return { app, tables, statements, ours, theirs };
}

/** Stops jobs, handlers and the publisher of events, which send statements and change rows at any time. */
export async function stopBackgroundWork({ app }: TestApp): Promise<void> {
  const work = app.get(BackgroundWork);
  Object.defineProperty(work, 'isAccepting', { value: false });
  await work.beforeApplicationShutdown();
  await app.get(EventPublisher).onApplicationShutdown();
}
