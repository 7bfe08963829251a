import type pg from 'pg';
import { type ContextStatement, QueryWithContext } from '../connection/query-with-context.js';
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
   * @throws any error of the driver
   */
  run<Row>(
    client: pg.ClientBase,
    context: ContextStatement,
    { text, values, repeats, plan }: Statement,
  ): Promise<Row[]> {
    const name = plan === 'custom' || !this.isPreparing ? '' : this.nameOf(text);
    return new Promise<Row[]>((resolve, reject) => {
      const query = new QueryWithContext(
        context,
        { name, text, values, queryMode: plan === 'custom' ? undefined : 'extended' },
        undefined,
        (error, result) => {
          if (error) reject(error);
          else if (Array.isArray(result)) resolve(result.flatMap(({ rows }) => rows as Row[]));
          else resolve(result?.rows as Row[]);
        },
        repeats,
      );
      client.query(query as unknown as pg.Submittable);
    });
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
