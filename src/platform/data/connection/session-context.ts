import pg from 'pg';

/** The setting with the id of the current organization, which the policies of row-level security use. */
export const TENANT_SETTING = 'app.organization_id';

/**
 * Settings of every connection. The driver reads only times in the ISO style. Times without a zone are UTC.
 * JIT compilation would take longer than the statements.
 */
export const CONNECTION_SETTINGS = { datestyle: 'iso', timezone: 'UTC', jit: 'off' };

/**
 * Clears the organization, because SQL of an extension may have set one for the whole session, which a later transaction
 * must not inherit.
 */
export const NO_ORGANIZATION = { [TENANT_SETTING]: '' };

/** The role of the application's transactions. */
export interface TransactionRole {
  readonly role: string;
  /** Schemas of the search path, if that of the role differs. */
  readonly searchPath?: readonly string[];
}

/**
 * The settings of each transaction of the application's data source. They are set per transaction and
 * never per session.
 */
export class SessionContext {
  /**
   * Undefined until the migrations have run, and always if the database user may not use the tenant role. Statements then
   * run as that user, and no settings are set.
   */
  transactionRole: TransactionRole | undefined;

  /** Whether statements are prepared under names. */
  preparesStatements = true;

  /**
   * Whether each connection keeps its session. A pooler in transaction mode gives sessions to other clients:
   * each transaction then sets all settings.
   */
  hasOwnSessions = true;

  /** The calls of `set_config` that every transaction needs. The organization is not among them: callers add it. */
  private get baseCalls(): string[] {
    if (!this.transactionRole) return [];
    const { role, searchPath } = this.transactionRole;
    return [
      setConfigCall('role', role),
      ...(searchPath ? [setConfigCall('search_path', identifierList(searchPath))] : []),
      ...this.repeatedSettings.map(([name, value]) => setConfigCall(name, value)),
    ];
  }

  /**
   * A `select` that also sets other settings until the transaction ends.
   * @param settings names of settings, whose values are `$1` onwards
   * @param fixed settings with their values
   */
  selectWith(settings: readonly string[], fixed: Readonly<Record<string, string>> = {}): string {
    const fixedCalls = Object.entries(fixed).map(([name, value]) => setConfigCall(name, value));
    return `select ${[...this.baseCalls, ...parameterizedCalls(settings), ...fixedCalls].join(', ')}`;
  }

  /**
   * The settings of a transaction without an organization, as `set local` statements. They take no snapshot, so
   * `set transaction` may follow.
   */
  get statements(): string[] {
    if (!this.transactionRole) return [];
    const { role, searchPath } = this.transactionRole;
    return [
      `set local role ${pg.escapeIdentifier(role)}`,
      ...(searchPath ? [`set local search_path = ${identifierList(searchPath)}`] : []),
      ...[...this.repeatedSettings, ...Object.entries(NO_ORGANIZATION)].map(
        ([name, value]) => `set local ${name} = ${pg.escapeLiteral(value)}`,
      ),
    ];
  }

  /** The settings of the connection, which each transaction repeats behind a pooler in transaction mode. */
  private get repeatedSettings(): [string, string][] {
    return this.hasOwnSessions ? [] : Object.entries(CONNECTION_SETTINGS);
  }
}

/** Calls of `set_config` for a select list. The values of the settings are `$1` onwards. */
export function parameterizedCalls(settings: readonly string[]): string[] {
  return settings.map((name, index) => `set_config('${name}', $${index + 1}, true)`);
}

function setConfigCall(name: string, value: string): string {
  return `set_config('${name}', ${pg.escapeLiteral(value)}, true)`;
}

/** A list of quoted identifiers, for a search path. */
export function identifierList(names: readonly string[]): string {
  return names.map((name) => pg.escapeIdentifier(name)).join(', ');
}
