import type { Statement, Tenant, TenantTransaction } from '../../src/database/gateway/tenant.js';
import { TenantDatabase } from '../../src/database/gateway/tenant-database.js';
import type { TestApp } from '../../src/testing/test-app.js';

/** How the application keeps to the records of one organization, whose id is `$1`. */
const FILTER = /\borganization_id = \$1(?!\d)/g;

/** Of the same type and as true for one row as for another. */
const NO_FILTER = '$1::uuid is not null';

/** What asks for no records: the insert of one that refers to no other. */
const PLAIN_INSERT = /^with\s+record as \(\s*insert into \w+ \([\w, ]+\) values /;

/** Any other way to compare the organization, which `FILTER` would have left in its place. */
const OTHER_FILTER = /organization_id\s*(=|<>|in\b|is\b)/i;

/** The statements of tenants that an application sends, in the order in which it sends them. */
export class StatementRecorder {
  /** Those that had no filter, so that there was none to be taken out. */
  readonly withoutFilter: string[] = [];
  private sent: string[] = [];

  /** @param filters whether they keep their condition on the organization */
  constructor({ app }: TestApp, { filters }: { filters: boolean }) {
    const gateway = app.get(TenantDatabase);
    const read = gateway.read.bind(gateway);
    const write = gateway.write.bind(gateway);
    const transaction = gateway.transaction.bind(gateway);
    const noted = (step: string, { text, ...rest }: Statement): Statement => {
      const unfiltered = this.withoutItsFilter(text);
      this.sent.push(`${step}: ${text}`);
      return { ...rest, text: filters ? text : unfiltered };
    };
    Object.assign(gateway, {
      read: (tenant: Tenant, statement: Statement) => read(tenant, noted('read', statement)),
      write: (tenant: Tenant, statement: Statement) => write(tenant, noted('write', statement)),
      transaction: (
        tenant: Tenant,
        work: (inside: TenantTransaction, own: Tenant) => Promise<unknown>,
      ) => {
        this.sent.push('begin');
        return transaction(tenant, (inside, own) =>
          work({ query: (statement) => inside.query(noted('query', statement)) }, own),
        ).finally(() => this.sent.push('end'));
      },
    });
  }

  /** What is sent until `work` is done: one round trip each. */
  async during(work: () => Promise<unknown>): Promise<string[]> {
    this.sent = [];
    await work();
    return [...this.sent];
  }

  private withoutItsFilter(text: string): string {
    const changed = text.replace(FILTER, () => NO_FILTER);
    const hadNone = changed === text && !PLAIN_INSERT.test(text);
    if (hadNone || OTHER_FILTER.test(changed)) this.withoutFilter.push(text);
    return changed;
  }
}
