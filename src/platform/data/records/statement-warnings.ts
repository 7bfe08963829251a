import { AbstractLogger, type QueryRunner } from 'typeorm';
import { logger } from '../../config/logger.js';

/** How many statements are remembered, so that each is logged once. */
const MAX_REMEMBERED = 100;

const MAX_SHOWN = 200;

/** The names of tables in a statement. */
const TABLES = /\b(?:from|join|into|update)\s+(?:only\s+)?(?:"?\w+"?\.)?(?:"([^"]+)"|(\w+))/gi;

/** The part of a statement before its first value: values can be personal data. */
const BEFORE_VALUES = /^(?:[^'$\d]|\$\d+|(?<=\w)\d)*/;

/**
 * The TypeORM logger of the application's data source. It warns of statements on tables of organizations, because they
 * have no organization: those of Latitude use the connections of the pool directly.
 */
export class StatementWarnings extends AbstractLogger {
  /** The tables whose statements it warns of. */
  tables: ReadonlySet<string> = new Set();
  private readonly remembered = new Set<string>();

  override logQuery(text: string, _parameters?: unknown[], runner?: QueryRunner): void {
    // The transaction of a call has an organization.
    if (this.remembered.size >= MAX_REMEMBERED || runner?.data.tenantId !== undefined) return;
    const names = [...text.matchAll(TABLES)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const table = names.find((name) => this.tables.has(name));
    if (table === undefined) return;
    const shown = BEFORE_VALUES.exec(text)?.[0].slice(0, MAX_SHOWN).trimEnd();
    const key = `${table} ${shown}`;
    if (this.remembered.has(key)) return;
    this.remembered.add(key);
    logger.warn(
      `A statement of the TypeORM data source uses the table ${table}, which holds records of organizations: it finds no rows and can write none. Use a TenantRepository of this table, or the service of the module that owns it: their methods take the organization. The statement begins: ${shown}`,
    );
  }

  protected override writeLog(): void {
    // Errors are thrown, and `migrate` logs the migrations.
  }
}
