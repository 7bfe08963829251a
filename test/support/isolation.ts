import { connectTenant, type McpTenant } from './id-positions.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { ProtocolMode } from './mcp-sdk-clients.js';
import { StatementRecorder } from './statement-recorder.js';
import { recordTables } from './tenant-tables.js';

/** What keeps organizations apart: both of it, as the application runs, and each alone. */
export const LAYERS = {
  'as it runs': { filters: true, policies: true },
  'by row-level security alone': { filters: false, policies: true },
  "by the application's own filters alone": { filters: true, policies: false },
} as const satisfies Record<string, Layer>;

export type Layer = Readonly<Record<'filters' | 'policies', boolean>>;

/** An application with two organizations of either era of /mcp, and what keeps them apart. */
export interface IsolationTest {
  readonly app: TestApp;
  /** The tables of their records. */
  readonly tables: readonly string[];
  readonly statements: StatementRecorder;
  readonly ours: McpTenant;
  readonly theirs: McpTenant;
}

/** Starts an application in which this layer alone keeps organizations apart. */
export async function startWithLayer(layer: Layer): Promise<IsolationTest> {
  const app = await TestApp.start();
  const tables = await recordTables(app);
  if (!layer.policies) {
    for (const table of tables) await app.sql(`alter table ${table} disable row level security`);
  }
  const statements = new StatementRecorder(app, layer);
  const join = async (era: ProtocolMode) => connectTenant(app, await app.organization(), era);
  const [ours, theirs] = await Promise.all([join('sessions'), join('stateless')]);
  return { app, tables, statements, ours, theirs };
}
