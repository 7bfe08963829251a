import type { ContextStatement } from '../connection/statement-pipeline.js';
import {
  parameterizedCalls,
  type SessionContext,
  TENANT_SETTING,
} from '../connection/session-context.js';
import { executionsOf, type Statement } from './tenant.js';
import { BATCH_TIMEOUTS, type Deadline, type LockWait, TIMEOUT_SETTINGS } from './time-budget.js';

/** The settings of each statement, as parameters of its context. */
const SETTINGS = [TENANT_SETTING, ...TIMEOUT_SETTINGS];

/**
 * Settings that make PostgreSQL use an index for organizations of any size, even before the first statistics
 * exist.
 */
const INDEX_PLAN = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** The settings of the sessions of batch connections. Each transaction sets the role and the organization. */
export const BATCH_SESSION: Readonly<Record<string, string>> = {
  ...INDEX_PLAN,
  ...Object.fromEntries(TIMEOUT_SETTINGS.map((name, index) => [name, BATCH_TIMEOUTS[index]])),
};

/** Creates the statements that set the role, the organization and the timeouts of other statements. */
export class TenantContext {
  private readonly text: string;
  private readonly indexText: string;
  private readonly batchText: string;
  private readonly nextText: string;

  /** @param result returns SQL of another column of `of`; it receives the number of its first parameter */
  constructor(
    private readonly context: SessionContext,
    result?: (first: number) => string,
  ) {
    const last = result ? `, ${result(SETTINGS.length + 1)}` : '';
    this.text = context.selectWith(SETTINGS) + last;
    this.indexText = context.selectWith(SETTINGS, INDEX_PLAN) + last;
    this.batchText = context.selectWith([TENANT_SETTING]);
    this.nextText = `select ${parameterizedCalls([TENANT_SETTING]).join()}`;
  }

  /**
   * Returns the context of a statement. A statement with the plan `index` must be the only one of its transaction.
   * @param resultValues values of the parameters of `result`
   */
  of(
    statement: Pick<Statement, 'plan' | 'repeats'>,
    organizationId: string,
    deadline: Deadline,
    wait: LockWait,
    resultValues: readonly string[] = [],
  ): ContextStatement {
    const timeouts = deadline.timeouts(wait, executionsOf(statement));
    const values = [organizationId, ...timeouts, ...resultValues];
    return statement.plan === 'index'
      ? this.statement('index', this.indexText, values)
      : this.statement('tenant', this.text, values);
  }

  /**
   * Returns the context of statements on a batch connection, whose session can have most of the settings.
   * @param executions how many executions of statements follow in the transaction
   */
  ofBatch(organizationId: string, deadline: Deadline, executions: number): ContextStatement {
    const timeouts = deadline.timeouts('brief', executions);
    const isSet =
      this.context.hasOwnSessions &&
      timeouts.every((timeout, index) => timeout === BATCH_TIMEOUTS[index]);
    return isSet
      ? this.statement('batch', this.batchText, [organizationId])
      : this.statement('index', this.indexText, [organizationId, ...timeouts]);
  }

  /**
   * Returns a context that makes PostgreSQL check deferred constraints at the end of each statement, and not at the
   * commit. The organization of the statement is still set then, and PostgreSQL reports an error for that statement.
   */
  checkConstraintsAtOnce(): ContextStatement {
    return this.statement('constraints', 'set constraints all immediate', []);
  }

  /** Returns the context of a further statement of a transaction, for another organization. */
  next(organizationId: string): ContextStatement {
    return this.statement('organization', this.nextText, [organizationId]);
  }

  private statement(name: string, text: string, values: readonly string[]): ContextStatement {
    return { name: this.context.preparesStatements ? name : '', text, values };
  }
}
