import pg from 'pg';

/** What a transaction of the application runs under. */
export interface TransactionRole {
  readonly role: string;
  /** The schemas to look for tables in, where the role would otherwise find other ones. */
  readonly searchPath?: readonly string[];
}

/**
 * The settings that each transaction of the application's data source begins with. They are set per
 * transaction, never per session. It is empty until the schema is up to date, and stays empty where
 * the database user may not use the tenant role: statements then run as that user.
 */
export class SessionContext {
  private settings: TransactionRole | undefined;

  use(settings: TransactionRole | undefined): void {
    this.settings = settings;
  }

  get isEmpty(): boolean {
    return this.settings === undefined;
  }

  /** Calls for the select list of a statement. */
  get calls(): string[] {
    if (!this.settings) return [];
    const { role, searchPath } = this.settings;
    const call = (name: string, value: string) =>
      `set_config('${name}', ${pg.escapeLiteral(value)}, true)`;
    return [
      call('role', role),
      ...(searchPath ? [call('search_path', identifierList(searchPath))] : []),
    ];
  }

  /** The same as statements. They take no snapshot, so `set transaction` may still follow. */
  get statements(): string[] {
    if (!this.settings) return [];
    const { role, searchPath } = this.settings;
    return [
      `set local role ${pg.escapeIdentifier(role)}`,
      ...(searchPath ? [`set local search_path = ${identifierList(searchPath)}`] : []),
    ];
  }
}

/** Quoted names, as a search path takes them. */
export function identifierList(names: readonly string[]): string {
  return names.map((name) => pg.escapeIdentifier(name)).join(', ');
}
