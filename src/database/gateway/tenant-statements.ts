import type pg from 'pg';
import { type ContextStatement, StatementPipeline } from '../connection/statement-pipeline.js';
import type { Statement } from './tenant.js';

/** Maximum number of prepared statements on a connection. Further texts run unprepared. */
const MAX_PREPARED_STATEMENTS = 500;

/** Sends statements with their session context, and prepares each text once for a connection. */
export class TenantStatements {
  private readonly names = new Map<string, string>();

  /** @param isPreparing whether statements are prepared under names */
  constructor(private readonly isPreparing: boolean) {}

  /**
   * @param context sets the organization of the statement
   * @param onContext receives the row of the context, as text
   * @throws any error of the driver
   */
  async run<Row>(
    client: pg.ClientBase,
    context: ContextStatement,
    { text, values, repeats = [], plan }: Statement,
    onContext?: (row: readonly (string | null)[]) => void,
  ): Promise<Row[]> {
    const name = plan === 'custom' || !this.isPreparing ? '' : this.nameOf(text);
    const pipeline = new StatementPipeline<Row>(context, { name, text }, [...repeats, values]);
    client.query(pipeline);
    const rows = await pipeline.result;
    onContext?.(pipeline.contextRow);
    return rows;
  }

  private nameOf(text: string): string {
    const known = this.names.get(text);
    if (known !== undefined) return known;
    if (this.names.size >= MAX_PREPARED_STATEMENTS) return '';
    const name = `s${this.names.size}`;
    this.names.set(text, name);
    return name;
  }
}
