import { type SessionContext, TENANT_SETTING } from '../connection/session-context.js';
import { type PipelineStatement, statementName } from '../connection/statement-pipeline.js';
import type { Statement } from './statement.js';
import { type Deadline, type LockWait, TIMEOUT_SETTINGS } from './policies.js';

/** Whether the statements are those of the entity manager of TypeORM, which cannot write to the tables of Latitude. */
export const ENTITY_MANAGER_SETTING = 'latitude.entity_manager';

/** The settings that differ between statements, as parameters. */
const PARAMETERS = [TENANT_SETTING, ...TIMEOUT_SETTINGS];

/**
 * Settings that make PostgreSQL use an index for organizations of any size, even before the first statistics
 * exist.
 */
export const INDEX_PLAN = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/**
 * Locks names until the transaction ends. All transactions lock in the order of the hashes, so that two of them do not
 * wait for each other.
 */
const LOCK_NAMES = `select pg_advisory_xact_lock(key) from (
  select distinct hashtextextended(name, 0) as key from unnest($1::text[]) name order by key) keys`;

/**
 * Creates the statements that set the role, the organization, the timeouts and the plans of a transaction. They are
 * sent in front of its first statement, and apply until it ends.
 */
export class TenantSettings {
  private readonly text: string;
  /** Sets all of them, and those of `INDEX_PLAN`. */
  readonly indexText: string;
  /** Sets only the role and the organization. */
  readonly batchText: string;

  constructor(private readonly context: SessionContext) {
    this.text = context.selectWith(PARAMETERS, { [ENTITY_MANAGER_SETTING]: 'off' });
    this.indexText = context.selectWith(PARAMETERS, INDEX_PLAN);
    this.batchText = context.selectWith([TENANT_SETTING]);
  }

  /** The settings of a transaction. With the plan `index`, it has one statement only. */
  of(
    organizationId: string,
    plan: Statement['plan'],
    deadline: Deadline,
    wait: LockWait,
  ): PipelineStatement {
    const [name, text] = plan === 'index' ? ['index', this.indexText] : ['tenant', this.text];
    return this.setting(name, text, [organizationId, ...deadline.timeouts(wait)]);
  }

  /**
   * A statement to send after its settings. Several statements with the same text become one: the parameters after
   * `values` are then JSON arrays with the items of all.
   */
  message(statements: readonly [Statement, ...Statement[]]): PipelineStatement {
    const [{ text, values, items = [], plan }] = statements;
    const arrays = items.map((_, index) => {
      return `[${statements.map((each) => each.items?.[index]).join()}]`;
    });
    const isPrepared = this.context.preparesStatements && plan !== 'custom';
    const name = isPrepared ? statementName(text) : '';
    return { name, text, values: [...values, ...arrays] };
  }

  /** A statement whose text is one of a few. */
  fixed(text: string, values: readonly unknown[]): PipelineStatement {
    const name = this.context.preparesStatements ? statementName(text, true) : '';
    return { name, text, values };
  }

  /** The statement that locks the names of a statement before it; none if it has no names. */
  locksOf({ locks = [] }: Statement): PipelineStatement[] {
    if (locks.length === 0) return [];
    return [{ ...this.fixed(LOCK_NAMES, [locks]), isSetting: true }];
  }

  setting(name: string, text: string, values: readonly string[]): PipelineStatement {
    return { name: this.context.preparesStatements ? name : '', text, values, isSetting: true };
  }
}
