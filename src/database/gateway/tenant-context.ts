import type { ContextStatement } from '../connection/statement-pipeline.js';
import type { SessionContext } from '../connection/session-context.js';
import { TENANT_SETTING } from '../tenant-role/tenant-role.js';
import type { Statement } from './tenant.js';
import type { Deadline, LockWait } from './time-budget.js';

/** The settings of each statement, as parameters of its context. */
const SETTINGS = [
  TENANT_SETTING,
  'lock_timeout',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
];

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

/** Creates the statements that set the role, the organization and the timeouts of other statements. */
export class TenantContext {
  private readonly text: string;
  private readonly indexText: string;

  /** @param result SQL of a value that the statements return last, from the number of its first parameter */
  constructor(
    private readonly context: SessionContext,
    result?: (first: number) => string,
  ) {
    const last = result ? `, ${result(SETTINGS.length + 1)}` : '';
    this.text = context.selectWith(SETTINGS) + last;
    this.indexText = context.selectWith(SETTINGS, INDEX_PLAN) + last;
  }

  /**
   * @param statement one with the plan `index` must be the only one of its transaction
   * @param resultValues values of the parameters of `result`
   */
  of(
    { plan, repeats = [] }: Pick<Statement, 'plan' | 'repeats'>,
    organizationId: string,
    deadline: Deadline,
    wait: LockWait,
    resultValues: readonly string[] = [],
  ): ContextStatement {
    const values = [
      organizationId,
      ...deadline.timeouts(wait, repeats.length + 1),
      ...resultValues,
    ];
    const [name, text] = plan === 'index' ? ['index', this.indexText] : ['tenant', this.text];
    return { name: this.context.hasOwnSession ? name : '', text, values };
  }
}
