import type pg from 'pg';
import { type ContextStatement, QueryWithContext } from '../connection/query-with-context.js';
import type { Statement } from './tenant.js';

/** Distinct statement texts that a connection keeps prepared; further ones run unprepared. */
const MOST_PREPARED_STATEMENTS = 500;

/** What a connection takes; one that cannot be sent is told so. */
type TenantQuery = pg.Submittable & { fail(error: Error): void };

/** Statements as connections run them: each behind its entrance, by a plan that is prepared once. */
export class TenantStatements {
  private readonly names = new Map<string, string>();

  /**
   * @param entrance what binds the statement to its organization
   * @param submit sends it on a connection
   * @throws whatever the driver does
   */
  run<Row>(
    entrance: Omit<ContextStatement, 'name'>,
    { text, values, plan }: Statement,
    submit: (query: TenantQuery) => void,
  ): Promise<Row[]> {
    const name = plan === 'custom' ? '' : this.nameOf(text);
    return new Promise<Row[]>((resolve, reject) => {
      const context = { name: 'tenant', ...entrance };
      const query = new QueryWithContext(
        context,
        { name, text, values },
        undefined,
        (error, result) => {
          if (error) reject(error);
          else resolve(result?.rows as Row[]);
        },
      );
      submit(query as unknown as TenantQuery);
    });
  }

  private nameOf(text: string): string {
    const known = this.names.get(text);
    if (known !== undefined) return known;
    if (this.names.size >= MOST_PREPARED_STATEMENTS) return '';
    const name = `s${this.names.size}`;
    this.names.set(text, name);
    return name;
  }
}
