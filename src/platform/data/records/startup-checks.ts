import { Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityMetadata } from 'typeorm';
import { logger } from '../../config/logger.js';
import { Settings } from '../../config/settings.js';
import { repeatWhileDown } from '../connection/repeat-while-down.js';
import { ADMINISTRATIVE_TABLES } from '../tenant-role/tenant-privileges.js';
import { areTenantPolicies } from '../tenant-role/tenant-role.js';
import { assertCountTriggers } from './count-triggers.js';
import { StatementWarnings } from './statement-warnings.js';
import { tableOf, type TenantTable } from './tenant-entity.js';
import { nullsLastIndex, sortIndex } from './tenant-table.js';
import { TenantTables } from './tenant-tables.service.js';

/**
 * Reads how many connections the database allows. A limit of -1 means that the role or the database has none.
 */
export const FIND_LIMIT = `
  select least(
    current_setting('max_connections')::int
      - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0),
    (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
  ) as "limit"`;

/** What the system catalog says about a table. */
interface ActualTable {
  /** The name, with the schema if it is not in the search path. */
  readonly path: string;
  /** Whether it is a table, and not a view. */
  readonly is_table: boolean;
  readonly columns: readonly string[];
  readonly nullable: readonly string[];
  readonly primary_key: readonly string[] | null;
  readonly is_protected: boolean;
  readonly policies: readonly (string | null)[];
  /** Foreign keys as `column table action`. */
  readonly references: readonly string[];
  /** The indexes that serve a sort, as the column and `asc` or `desc`, with nulls last. */
  readonly sorts: readonly string[];
}

/** Sort options of a column in `pg_index.indoption`: bit 0 is DESC, bit 1 is NULLS FIRST. */
const SORT_DIRECTION = `
  case when index.indoption[1] in (0, 3) then 'asc' else 'desc' end`;

const FIND_TABLES = `
  select path, relkind in ('r', 'p') as is_table, relrowsecurity and relforcerowsecurity as is_protected,
    array(select attname::text from pg_attribute where attrelid = c.oid and not attisdropped) as columns,
    array(select attname::text from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attnotnull) as nullable,
    (select array_agg(attname::text order by place)
      from pg_constraint key cross join lateral unnest(key.conkey) with ordinality as part (number, place)
        join pg_attribute on attrelid = c.oid and attnum = number
      where key.conrelid = c.oid and key.contype = 'p') as primary_key,
    array(select case when polpermissive and polcmd = '*' and polroles = '{0}'
        then pg_get_expr(polqual, polrelid) end from pg_policy where polrelid = c.oid) as policies,
    array(select concat_ws(' ', attname, key.confrelid::regclass::text,
        case key.confdeltype when 'c' then 'cascade' when 'n' then 'set null' else 'restrict' end)
      from pg_constraint key cross join lateral unnest(key.conkey) as number
        join pg_attribute on attrelid = c.oid and attnum = number
      where key.conrelid = c.oid and key.contype = 'f') as "references",
    array(select concat_ws(' ', sorted.attname, ${SORT_DIRECTION})
      from pg_index index
        join pg_class on pg_class.oid = index.indexrelid and relam = (select oid from pg_am where amname = 'btree')
        join pg_attribute owner on owner.attrelid = c.oid and owner.attnum = index.indkey[0]
        join pg_attribute sorted on sorted.attrelid = c.oid and sorted.attnum = index.indkey[1]
        join pg_attribute id on id.attrelid = c.oid and id.attnum = index.indkey[2]
      where index.indrelid = c.oid and index.indisvalid
        and owner.attname = 'organization_id' and id.attname = 'id'
        and index.indoption[1]::int & 1 = index.indoption[2]::int & 1
        and coalesce(pg_get_expr(index.indpred, c.oid) = '(deleted_at IS NULL)', true)) as sorts
  from unnest($1::text[]) as path cross join pg_class c join pg_namespace on pg_namespace.oid = relnamespace
  where relkind in ('r', 'p', 'v', 'm', 'f')
    and (path = relname and pg_table_is_visible(c.oid) or path = concat(nspname, '.', relname))
  order by 1`;

/** Compares the database with what the application needs, before it serves requests. */
@Injectable()
export class StartupChecks implements OnApplicationBootstrap {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly tables: TenantTables,
    private readonly modules: ModulesContainer,
    private readonly settings: Settings,
    private readonly warnings: StatementWarnings,
  ) {}

  /** @throws Error that names each declared or mapped table which the database lacks, does not protect or not count */
  async onApplicationBootstrap(): Promise<void> {
    const { dataSource, tables } = this;
    const names = tables.all.map(({ name }) => name);
    const mapped = dataSource.entityMetadatas.filter(mapsOrganization);
    const ofOrganizations = [...names, ...mapped.map(({ tableName }) => tableName)];
    this.warnings.tables = new Set(ofOrganizations);
    await repeatWhileDown(async () => {
      await this.warnOfConnectionLimit();
      await this.assertTables(ofOrganizations);
      await assertCountTriggers(dataSource, tables.counted);
    });
  }

  /**
   * Compares entities and declared tables with the tables and views of the database, and checks that all tables with
   * records of organizations are under row-level security.
   * @param names the names of all tables with records of organizations
   */
  private async assertTables(names: readonly string[]): Promise<void> {
    const { entities } = this;
    const paths = new Set([...entities.map(({ tablePath }) => tablePath), ...names]);
    const rows = await this.dataSource.query<ActualTable[]>(FIND_TABLES, [[...paths]]);
    const found = new Map(rows.map((table) => [table.path, table]));
    const faults = entities.flatMap((entity) => faultsOf(entity, found.get(entity.tablePath)));
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const problems = this.tables.declared.flatMap((table) => {
      const actual = found.get(table.name);
      const lacking = actual ? lackingIn(table, actual) : [];
      return lacking.length === 0 ? [] : [`the table ${table.name} lacks ${lacking.join(', ')}`];
    });
    if (problems.length > 0) {
      throw new Error(
        `The database does not match the declared tables: ${problems.join('; ')}. ` +
          'Add a migration to the extension that declares them; createTenantTable creates a whole table.',
      );
    }
    const isUnprotected = ({ path, is_table, is_protected }: ActualTable) =>
      is_table && !is_protected && names.includes(path) && !ADMINISTRATIVE_TABLES.includes(path);
    const unprotected = rows.filter(isUnprotected).map(({ path }) => path);
    if (unprotected.length === 0) return;
    throw new Error(
      `The tables ${unprotected.join(', ')} hold records of organizations, but are not under forced row-level security. ` +
        'In a migration, create such tables with createTenantTable, which enables row-level security.',
    );
  }

  /** Logs a warning if the database allows fewer connections than this instance may open. */
  private async warnOfConnectionLimit(): Promise<void> {
    const { databaseMaxConnections: wanted } = this.settings;
    const [row] = await this.dataSource.query<{ limit: number }[]>(FIND_LIMIT);
    if (!row || row.limit >= wanted) return;
    logger.warn(
      `DATABASE_MAX_CONNECTIONS lets this instance open up to ${wanted} connections, but the database ` +
        `allows ${row.limit}: requests fail under load`,
    );
  }

  /** The entities of `TypeOrmModule.forFeature()`. The data source also has those of other applications of the process. */
  private get entities(): EntityMetadata[] {
    const providers = [...this.modules.values()].flatMap((module) => [...module.providers.keys()]);
    const tokens = new Set<unknown>(providers);
    return this.dataSource.entityMetadatas.filter(
      ({ target }) =>
        typeof target === 'function' && tokens.has(getRepositoryToken(target as Type)),
    );
  }
}

/** What is wrong with the table of an entity. */
function faultsOf({ name, tablePath, columns }: EntityMetadata, actual?: ActualTable): string[] {
  if (!actual) {
    return [
      `The entity ${name} maps the table ${tablePath}, which does not exist. Add a migration that creates it.`,
    ];
  }
  const missing = columns
    // A @VirtualColumn() has a query in place of a column.
    .filter((column) => !column.isVirtualProperty && !actual.columns.includes(column.databaseName))
    .map(({ databaseName }) => databaseName);
  if (missing.length === 0) return [];
  return [
    `The entity ${name} maps the columns ${missing.join(', ')}, which the table ${tablePath} lacks. Add a migration that creates them.`,
  ];
}

/** Whether an entity maps the column of the organization. */
function mapsOrganization({ columns }: EntityMetadata): boolean {
  return columns.some(({ databaseName }) => databaseName === 'organization_id');
}

function lackingIn(table: TenantTable, actual: ActualTable): string[] {
  const columns = [...(table.counted ?? []), ...table.sorts].filter(
    (column) => !actual.columns.includes(column),
  );
  const references = Object.entries(table.references).filter(
    ([column, { entity, onDelete }]) =>
      !actual.references.includes(`${column} ${tableOf(entity()).name} ${onDelete}`),
  );
  const hasPrimaryKey = actual.primary_key?.join() === 'organization_id,id';
  const isProtected = actual.is_protected && areTenantPolicies(actual.policies);
  return [
    ...columns.map((column) => `the column ${column}`),
    ...(hasPrimaryKey ? [] : ['the primary key (organization_id, id)']),
    ...(isProtected ? [] : ['forced row-level security with the policy of organizations']),
    ...lackingIndexes(table, actual),
    ...references.map(
      ([column, { entity, onDelete }]) =>
        `the foreign key (organization_id, ${column}) to ${tableOf(entity()).name} with on delete ${onDelete}`,
    ),
  ];
}

function lackingIndexes(table: TenantTable, { columns, nullable, sorts }: ActualTable): string[] {
  return table.sorts
    .filter((column) => columns.includes(column))
    .filter((column) => !(table.updateTimes && column === 'updated_at'))
    .flatMap((column) =>
      [
        ...(sorts.includes(`${column} asc`) ? [] : [sortIndex(table, column)]),
        ...(sorts.includes(`${column} desc`) || !nullable.includes(column)
          ? []
          : [nullsLastIndex(table, column)]),
      ].map((statement) => `the index of the sort ${column} (${statement})`),
    );
}
