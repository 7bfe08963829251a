import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { DatabaseTarget } from '../database/connection/data-source-options.js';
import type { WindowReply, WindowRequest } from '../rate-limit/windows.js';

/** The options that a parent passes to a worker. */
export interface WorkerOptions {
  readonly database: DatabaseTarget;
  /** Whether the parent runs the embedded PostgreSQL. */
  readonly embedded: boolean;
  /** Name of the database connections. Workers have the same name, since they are one instance. */
  readonly applicationName: string;
  /**
   * `first`: the first worker at startup. It opens its port before it migrates, and creates the first key.
   * `further`: starts when other workers are ready. `successor`: replaces a worker, and accepts connections when
   * its `/health/ready` is 200.
   */
  readonly role: 'first' | 'further' | 'successor';
}

/** The metrics of one process. */
export type MetricReport = readonly MetricObjectWithValues<MetricValue<string>>[];

/** A request of a worker to its parent. */
export type WorkerRequest =
  /** Counts requests in the windows of all workers. */
  | { readonly topic: 'limits'; readonly requests: readonly WindowRequest[] }
  /** Sends the metrics of the worker, and requests a page with those of all workers. */
  | { readonly topic: 'metrics'; readonly report: MetricReport };

export interface Replies {
  readonly limits: readonly WindowReply[];
  readonly metrics: string;
}

export type Reply = Replies[keyof Replies];

/** `replace`: another worker accepts new connections. A signal: the instance stops. */
export type Ending = 'replace' | NodeJS.Signals;

/** A worker that accepts connections. */
export interface ReadyWorker {
  readonly url: string;
  /** A message for the terminal. */
  readonly firstKey?: string;
}

/** A message of a worker. */
export type WorkerMessage =
  /** The worker receives messages from now on. Earlier ones are lost. */
  | { readonly type: 'connected' }
  | { readonly type: 'migrating' }
  | ({ readonly type: 'ready' } & ReadyWorker)
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'report'; readonly report: MetricReport; readonly id?: number }
  | { readonly type: 'request'; readonly id: number; readonly request: WorkerRequest };

/** A message of a parent. */
export type ParentMessage =
  | { readonly type: 'end'; readonly ending: Ending }
  | { readonly type: 'reply'; readonly id: number; readonly reply: Reply }
  | { readonly type: 'report'; readonly id: number };
