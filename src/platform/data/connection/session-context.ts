import pg from 'pg';

/** The setting with the id of the current organization, which the policies of row-level security use. */
export const TENANT_SETTING = 'app.organization_id';

/**
 * Settings of every connection. The driver reads only times in the ISO style. Times without a zone are UTC.
 * JIT compilation would take longer than the statements. Each transaction sets them, too, because a pooler in
 * transaction mode gives the sessions to other clients.
 */
export const CONNECTION_SETTINGS = { datestyle: 'iso', timezone: 'UTC', jit: 'off' };

type Setting = readonly [name: string, value: string];

/** A statement of a team can set the organization of its session. Later transactions must not have it. */
const NO_ORGANIZATION: Setting = [TENANT_SETTING, ''];

/** The role of the application's transactions. */
export interface TransactionRole {
  readonly role: string;
  /** Schemas of the search path, if that of the role differs. */
  readonly searchPath?: readonly string[];
}

/**
 * The settings of each transaction of the application's data source. They are set per transaction and
 * never per session. They are empty until the schema is up to date, and stay empty if the database user
 * may not use the tenant role: statements then run as that user.
 */
export class SessionContext {
  /** Those of a transaction that sets its organization. */
  private settings: readonly Setting[] = [];

  /** Whether statements are prepared under names. */
  preparesStatements = true;

  use({ role, searchPath }: TransactionRole): void {
    this.settings = [
      ['role', role],
      ...(searchPath ? [['search_path', identifierList(searchPath)] as const] : []),
      ...Object.entries(CONNECTION_SETTINGS),
    ];
  }

  get isEmpty(): boolean {
    return this.settings.length === 0;
  }

  /** Calls of `set_config` for a select list, for a transaction without an organization. */
  get calls(): string[] {
    return this.withoutOrganization.map(callOf);
  }

  /** The `calls` as `set local` statements. They take no snapshot, so `set transaction` may follow. */
  get statements(): string[] {
    return this.withoutOrganization.map(([name, value]) => {
      const isList = name === 'search_path';
      return `set local ${name} = ${isList ? value : pg.escapeLiteral(value)}`;
    });
  }

  /**
   * A `select` that also sets other settings until the transaction ends.
   * @param settings names of settings, whose values are `$1` onwards
   * @param fixed settings with their values
   */
  selectWith(settings: readonly string[], fixed: Readonly<Record<string, string>> = {}): string {
    const [own, others] = [this.settings, Object.entries(fixed)].map((all) => all.map(callOf));
    return `select ${[own, parameterizedCalls(settings), others].flat().join(', ')}`;
  }

  private get withoutOrganization(): readonly Setting[] {
    return this.isEmpty ? [] : [...this.settings, NO_ORGANIZATION];
  }
}

/** Calls of `set_config` for a select list. The values of the settings are `$1` onwards. */
export function parameterizedCalls(settings: readonly string[]): string[] {
  return settings.map((name, index) => `set_config('${name}', $${index + 1}, true)`);
}

function callOf([name, value]: Setting): string {
  return `set_config('${name}', ${pg.escapeLiteral(value)}, true)`;
}

/** A list of quoted identifiers, for a search path. */
export function identifierList(names: readonly string[]): string {
  return names.map((name) => pg.escapeIdentifier(name)).join(', ');
}
