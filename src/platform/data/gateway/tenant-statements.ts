import type pg from 'pg';
import {
  type ContextStatement,
  type PipelinePart,
  StatementPipeline,
} from '../connection/statement-pipeline.js';
import type { Statement } from './tenant.js';

/** Maximum number of prepared statements on a connection. Other statements are sent without a name. */
const MAX_PREPARED_STATEMENTS = 500;

/** A statement with the settings that apply to it. */
export interface ContextualStatement {
  readonly contexts: readonly ContextStatement[];
  readonly statement: Statement;
}

/** Sends statements with their session context, and prepares each statement once for a connection. */
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
    statement: Statement,
    onContext?: (row: readonly (string | null)[]) => void,
  ): Promise<Row[]> {
    const pipeline = new StatementPipeline<Row>([this.partOf([context], statement)]);
    client.query(pipeline);
    const rows = await pipeline.result;
    onContext?.(pipeline.contextRow);
    return rows.flat();
  }

  /** Sends several statements in one transaction, each with its contexts. */
  sendAll<Row>(
    client: pg.ClientBase,
    parts: readonly ContextualStatement[],
  ): StatementPipeline<Row> {
    const pipeline = new StatementPipeline<Row>(
      parts.map(({ contexts, statement }) => this.partOf(contexts, statement)),
    );
    client.query(pipeline);
    return pipeline;
  }

  private partOf(
    contexts: readonly ContextStatement[],
    { text, values, repeats = [], plan }: Statement,
  ): PipelinePart {
    const name = plan === 'custom' || !this.isPreparing ? '' : this.nameOf(text);
    return { contexts, statement: { name, text }, executions: [...repeats, values] };
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
