import type { Statement } from '../../../src/platform/data/gateway/statement.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import type { Transaction } from '../../../src/platform/data/gateway/transaction.js';
import type { Work } from '../../../src/platform/data/gateway/transaction-runner.js';
import type { TenantCall } from '../../../src/platform/data/call.js';
import type { TestApp } from '../../../src/testing/test-app.js';

/** The application's filter for one organization, whose id is `$1`; in a query of TypeORM, it is another parameter. */
const FILTER =
  /(?:\b(?:organization_id|organizations where id) = (\$1)(?!\d)|"\w+"\."organization_id" = (\$\d+))/g;

/** A condition with the same parameter that is true for all rows. */
const noFilter = (filter: string, first?: string, other?: string) => {
  const [table] = filter.split(' where ', 1);
  const condition = `${first ?? other}::uuid is not null`;
  return filter.includes(' where ') ? `${table} where ${condition}` : condition;
};

/** An insert without references to other records, which needs no filter. */
const PLAIN_INSERT =
  /^with input as materialized \([^()]+\([^()]+\)\), request as materialized \([^()]+\(\$3\)[^()]+\([^()]+\)\), record as \(\s*insert into \w+ \([\w", ]+\) select \$1, /;

/** The insert of a job, of a part of a file or of a rule, which needs no filter either. */
const JOB_INSERT =
  /^insert into (?:jobs|lead_import_chunks|custom_field_rules) \(organization_id, [\w, ]+\)\s+values \(\$1, /;

/** The insert of entries of the audit log. */
const AUDIT_INSERT = /^insert into audit_entries \(organization_id, [\w, ]+\) select \$1, /;

/** An advisory lock, which reads no table. */
const ADVISORY_LOCK = /^select pg_advisory_xact_lock\(hashtextextended\('[\w ]+' \|\| \$1, 0\)\)$/;

/** The numbers of transactions, which are those of no organization. */
const TRANSACTIONS = /^select pg_snapshot_xm\w+\(pg_current_snapshot\(\)\)/;

/** Statements that need no filter. */
const WITHOUT_FILTER = [PLAIN_INSERT, JOB_INSERT, AUDIT_INSERT, ADVISORY_LOCK, TRANSACTIONS];

/** Other comparisons of the organization, which `FILTER` does not match. */
const OTHER_FILTER = /organization_id\s*(=|<>|in\b|is\b)/i;

/** Records the tenant statements of an application in order. */
export class StatementRecorder {
  /** Statements without the expected filter. */
  readonly withoutFilter: string[] = [];
  private sent: string[] = [];

  /** @param filters false to remove the filter from every statement */
  constructor({ app }: TestApp, { filters }: { filters: boolean }) {
    const gateway = app.get(TenantDatabase);
    const read = gateway.read.bind(gateway);
    const scan = gateway.scan.bind(gateway);
    const readForWrite = gateway.readForWrite.bind(gateway);
    const write = gateway.write.bind(gateway);
    const transaction = gateway.transaction.bind(gateway);
    const noted = (step: string, { text, ...rest }: Statement): Statement => {
      const unfiltered = this.withoutItsFilter(text);
      // The last use of a key is stored at most once a minute, while the request is served.
      if (!text.includes('set last_used_at')) this.sent.push(`${step}: ${text}`);
      return { ...rest, text: filters ? text : unfiltered };
    };
    // The gateway runs its reads and writes, which are noted already, in savepoints.
    const recorded = (inner: Transaction): Transaction => ({
      identity: inner.identity,
      get isCommitted() {
        return inner.isCommitted;
      },
      manager: inner.manager,
      query: (statement) => inner.query(noted('query', statement)),
      queryInSavepoint: (statement) => inner.queryInSavepoint(statement),
      runInSavepoint: (work) => inner.runInSavepoint(work),
      of: (organization) => recorded(inner.of(organization)),
      takeTurn: (keys) => {
        inner.takeTurn(keys);
      },
      afterCommit: (callback) => {
        inner.afterCommit(callback);
      },
    });
    Object.assign(gateway, {
      read: (call: TenantCall, statement: Statement) => read(call, noted('read', statement)),
      scan: (call: TenantCall, statement: Statement) => scan(call, noted('read', statement)),
      readForWrite: (call: TenantCall, statement: Statement) =>
        readForWrite(call, noted('read', statement)),
      write: (call: TenantCall, statement: Statement) => write(call, noted('write', statement)),
      transaction: (call: TenantCall, work: Work<TenantCall, unknown>) => {
        this.sent.push('begin');
        return transaction(call, (inner, manager) =>
          work({ ...inner, transaction: recorded(inner.transaction) }, manager),
        ).finally(() => this.sent.push('end'));
      },
    });
  }

  /** The statements that `work` sends, one for each round trip. */
  async during(work: () => Promise<unknown>): Promise<string[]> {
    this.sent = [];
    await work();
    return [...this.sent];
  }

  private withoutItsFilter(text: string): string {
    const changed = text.replace(FILTER, noFilter);
    const hadNone = changed === text && !WITHOUT_FILTER.some((kind) => kind.test(text));
    if (hadNone || OTHER_FILTER.test(changed)) this.withoutFilter.push(text);
    return changed;
  }
}
