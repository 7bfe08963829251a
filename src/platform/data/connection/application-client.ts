import { promisify } from 'node:util';
import pg from 'pg';
import { isSubmittable, ResilientClient } from './resilient-client.js';
import type { SessionContext } from './session-context.js';
import { StatementPipeline } from './statement-pipeline.js';
import { beginWithContext } from './transaction-context.js';
import { withUtcTimes } from './utc-times.js';

type Callback = (error: Error | undefined, result: unknown) => void;

/**
 * A connection of the application's data source. Every transaction begins with the session context. This
 * applies to all overloads of `query`.
 */
export class ApplicationClient extends ResilientClient {
  private readonly context: SessionContext;

  constructor(config: pg.ClientConfig & { readonly sessionContext: SessionContext }) {
    super(config);
    this.context = config.sessionContext;
  }

  /** Implements all overloads of pg, whose results differ. */
  override query(config: unknown, values?: unknown, callback?: unknown): never {
    return this.send(config, values, callback) as never;
  }

  private send(config: unknown, values: unknown, callback: unknown): unknown {
    const send = super.query.bind(this) as (...query: unknown[]) => unknown;
    const needsNoContext = !this.context.transactionRole || config instanceof StatementPipeline;
    if (needsNoContext || config == null) return send(config, values, callback);
    if (isSubmittable(config)) {
      return send(beginWithContext(config, this, this.context), values, callback);
    }
    if (typeof values === 'function') return this.send(config, undefined, values);
    const run = (settle: Callback) => {
      send(this.queryOf(config, values, settle));
    };
    if (typeof callback !== 'function') return promisify(run)();
    run(callback as Callback);
    return undefined;
  }

  private queryOf(config: unknown, values: unknown, callback: Callback): pg.Submittable {
    const options = typeof config === 'string' ? { text: config } : (config as pg.QueryConfig);
    // With a name, the driver would regard the statement as prepared once the context is parsed.
    const unnamed = {
      ...options,
      name: undefined,
      values: withUtcTimes(values ?? options.values) as unknown[] | undefined,
    };
    const query = new pg.Query(unnamed, callback);
    return beginWithContext(query, this, this.context, unnamed);
  }
}
