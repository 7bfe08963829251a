import { type SessionContext, TENANT_SETTING } from '../connection/session-context.js';
import { type PipelineStatement, statementName } from '../connection/statement-pipeline.js';
import type { Statement } from './statement.js';
import { TIMEOUT_SETTINGS, type Timeouts } from './policies.js';

/** The settings that differ between statements, as parameters. */
const PARAMETERS = [TENANT_SETTING, ...TIMEOUT_SETTINGS];

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

/**
 * Creates the statements that set the role, the organization, the timeouts and the plans of a transaction. They are
 * sent in front of its first statement, and apply until it ends.
 */
export class TenantSettings {
  private readonly text: string;
  /** Sets all of them, and those of `INDEX_PLAN`. */
  private readonly indexText: string;

  /** @param result returns SQL of another column of `of`; it receives the number of its first parameter */
  constructor(
    private readonly context: SessionContext,
    result?: (first: number) => string,
  ) {
    const last = result ? `, ${result(PARAMETERS.length + 1)}` : '';
    this.text = context.selectWith(PARAMETERS) + last;
    this.indexText = context.selectWith(PARAMETERS, INDEX_PLAN) + last;
  }

  /**
   * The settings of a transaction. With the plan `index`, all of its statements must have it.
   * @param resultValues values of the parameters of `result`
   */
  of(
    organizationId: string,
    plan: Statement['plan'],
    timeouts: Timeouts,
    resultValues: readonly string[] = [],
  ): PipelineStatement {
    const [name, text] = plan === 'index' ? ['index', this.indexText] : ['tenant', this.text];
    return this.setting(name, text, [organizationId, ...timeouts, ...resultValues]);
  }

  /** A statement without settings, which can stand for several calls with the same text. */
  message(statements: readonly [Statement, ...Statement[]]): PipelineStatement {
    const [{ text, values, items = [], plan }] = statements;
    const arrays = items.map((_, index) => {
      return `[${statements.map((each) => each.items?.[index]).join()}]`;
    });
    const isPrepared = this.context.preparesStatements && plan !== 'custom';
    const name = isPrepared ? statementName(text) : '';
    return { name, text, values: [...values, ...arrays] };
  }

  setting(name: string, text: string, values: readonly string[]): PipelineStatement {
    return { name: this.context.preparesStatements ? name : '', text, values, isSetting: true };
  }
}
