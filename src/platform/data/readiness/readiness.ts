import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { poolOf } from '../connection/driver-pool.js';
import { logger } from '../../config/logger.js';
import { ConcurrencyLimit } from '../gateway/policies.js';
import { SharedLookups } from '../gateway/shared-lookups.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { TenantTables } from '../records/tenant-tables.service.js';
import { ConnectionShortage } from './connection-shortage.js';
import { MissingGrants, type Problem, runCheck } from './problem.js';
import { WriteProbe } from './write-probe.js';

/** How long a result is reused. */
const FRESH_MS = 1_000;

/** Tables with an `organization_id` that have no repository. */
const COMMON_TABLES = ['idempotency_keys', 'record_counts'];

/** An organization that does not exist: its reads use the tables and find nothing. */
const NO_ORGANIZATION = { tenant: { id: '00000000-0000-0000-0000-000000000000' } };

const NO_REPLY: Problem = { detail: 'The database does not answer in time.' };
const NO_COMMIT: Problem = { detail: 'The database does not commit writes in time.' };

/** Checks whether requests can read from the database and write to it. */
@Injectable()
export class Readiness {
  private readonly shortage = new ConnectionShortage();
  private readonly writes: WriteProbe;
  private latest: { startedAt: number; unreadyReason: Promise<string | undefined> } | undefined;
  /** The result of the last completed check. */
  private lastReason: string | undefined;
  /** Statements of the checks themselves, which do not count as progress. */
  private ownStatements = 0;
  private readStatement: string | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly tenantTables: TenantTables,
    private readonly database: TenantDatabase,
    private readonly lookups: SharedLookups,
    private readonly limit: ConcurrencyLimit,
  ) {
    this.writes = new WriteProbe({
      connect: () => poolOf(dataSource).connect(),
      cancel: (backend) => lookups.find('cancel', 'select pg_cancel_backend($1)', [backend]),
    });
  }

  /** @returns the reason, as a message for operators; undefined if the instance is ready */
  unreadyReason(): Promise<string | undefined> {
    const now = performance.now();
    if (!this.latest || now - this.latest.startedAt > FRESH_MS) {
      this.latest = { startedAt: now, unreadyReason: this.check() };
    }
    return this.latest.unreadyReason;
  }

  private async check(): Promise<string | undefined> {
    const problems = await Promise.all([
      runCheck(this.readShared(), () => NO_REPLY),
      runCheck(this.readAsTenant('index'), () => NO_REPLY),
      ...(this.isPoolExhausted ? ['no connection' as const] : [this.readPooled(), this.write()]),
    ]);
    const reason = this.unreadyReasonOf(problems);
    if (reason !== this.lastReason) {
      if (reason === undefined) logger.info('the instance is ready again');
      else logger.warn({ reason }, 'the instance is not ready');
    }
    this.lastReason = reason;
    return reason;
  }

  private unreadyReasonOf(problems: readonly (Problem | undefined)[]): string | undefined {
    const found = problems.find((problem) => typeof problem === 'object');
    if (found) return found.detail;
    if (!problems.includes('no connection')) {
      this.shortage.end();
      return undefined;
    }
    const completed = this.limit.completed - this.ownStatements;
    return this.shortage.record(completed, performance.now())
      ? 'No connection to the database has become free, and no statement has completed, for 5 seconds.'
      : undefined;
  }

  private get isPoolExhausted(): boolean {
    const { idleCount, totalCount, options } = this.pool;
    return idleCount === 0 && totalCount >= options.max;
  }

  /** Reads the tables that requests read before their organization is known. */
  private async readShared(): Promise<void> {
    const text = 'select exists (select from api_keys) and exists (select from organizations)';
    await this.lookups.find('readiness', text, []);
  }

  private readPooled(): Promise<Problem | undefined> {
    return runCheck(this.readAsTenant('prepared'), () =>
      this.pool.waitingCount > 0 ? 'no connection' : NO_REPLY,
    );
  }

  private write(): Promise<Problem | undefined> {
    return runCheck(this.writes.write(), () =>
      this.writes.isConnecting && this.pool.waitingCount > 0 ? 'no connection' : NO_COMMIT,
    );
  }

  /** Reads from every table as requests do. */
  private async readAsTenant(plan: 'index' | 'prepared'): Promise<void> {
    const text = (this.readStatement ??= readStatement(this.tables));
    const [row] = await this.database.read<{ may_write: boolean }>(NO_ORGANIZATION, {
      text,
      values: [NO_ORGANIZATION.tenant.id],
      plan,
    });
    this.ownStatements++;
    if (!row?.may_write) throw new MissingGrants();
  }

  private get pool() {
    return poolOf(this.dataSource);
  }

  private get tables(): string[] {
    return [...this.tenantTables.all.map(({ name }) => name), ...COMMON_TABLES];
  }
}

/** A statement that fails without privileges to read, and returns whether the role may write. */
function readStatement(tables: readonly string[]): string {
  const rows = tables.map((table) => `exists (select from ${table} where organization_id = $1)`);
  const grants = tables.flatMap((table) =>
    ['insert', 'update', 'delete'].map((right) => `has_table_privilege('${table}', '${right}')`),
  );
  return `select ${rows.join(' or ')} as found, ${grants.join(' and ')} as may_write`;
}
