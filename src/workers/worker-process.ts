import type { Serializable } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { MAX_SHUTDOWN_DELAY_SECONDS } from '../config/settings.js';
import { withTimeout } from '../config/timeout.js';
import { WORKER_OPTIONS } from '../config/worker-options.js';
import {
  type Ending,
  type MetricReport,
  type ParentMessage,
  type WorkerRequest,
  type ReadyWorker,
  type Reply,
  type WorkerMessage,
  type WorkerOptions,
} from './messages.js';

/** A worker that is not ready after this time, and does not migrate, has failed to start. */
const START_TIMEOUT_MS = 120_000;

/** Longer than the shutdown of a server after its longest delay. */
const END_TIMEOUT_MS = 25_000 + MAX_SHUTDOWN_DELAY_SECONDS * 1_000;

/** How long to wait for the last message of a process that has exited. */
const LAST_MESSAGE_MS = 1_000;

/** A message, and the handle of a connection that `node:cluster` hands over. */
type SendArguments = [message: Serializable, handle?: { close(): void }];

/** Handles the messages of a worker. */
export interface WorkerListener {
  onReport(worker: WorkerProcess, report: MetricReport): void;
  replyTo(request: WorkerRequest, worker: WorkerProcess): Reply | Promise<Reply>;
}

/** One worker, as its parent sees it. */
export class WorkerProcess {
  readonly startedAt = performance.now();
  /** Rejects if the worker fails to start. The message of the error is meant for the user. */
  readonly ready: Promise<ReadyWorker>;
  /** Resolves with the signal or the exit code. */
  readonly ended: Promise<string>;
  isReady = false;
  /** Whether the parent ends this worker. */
  isEnding = false;
  private endMessage: ParentMessage | undefined;
  private readonly worker: Worker;
  private readonly reports = new Map<number, (report: MetricReport) => void>();
  private lastReport = 0;

  constructor(
    options: WorkerOptions,
    private readonly listener: WorkerListener,
  ) {
    this.worker = cluster.fork({ [WORKER_OPTIONS]: JSON.stringify(options) });
    const closeHandover = closerOfHandover(this.worker);
    this.ended = untilEnded(this.worker).then((how) => {
      if (!this.isEnding) closeHandover();
      return how;
    });
    this.ready = this.untilReady();
    this.ready.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.worker.process.pid;
  }

  /**
   * Requests the metrics of the worker.
   * @throws Error if there is no reply in time
   */
  async requestReport(timeoutMs: number): Promise<MetricReport> {
    const id = ++this.lastReport;
    const report = new Promise<MetricReport>((resolve) => this.reports.set(id, resolve));
    this.send({ type: 'report', id });
    try {
      return await withTimeout(report, timeoutMs);
    } finally {
      this.reports.delete(id);
    }
  }

  /** Ends the worker, which first completes its requests. */
  async end(ending: Ending): Promise<void> {
    this.isEnding = true;
    this.endMessage = { type: 'end', ending };
    this.send(this.endMessage);
    const timer = setTimeout(() => {
      this.worker.process.kill('SIGKILL');
    }, END_TIMEOUT_MS);
    await this.ended;
    clearTimeout(timer);
  }

  async kill(): Promise<void> {
    this.isEnding = true;
    this.worker.process.kill('SIGKILL');
    await this.ended;
  }

  private send(message: ParentMessage): void {
    if (this.worker.isConnected()) this.worker.send(message);
  }

  private untilReady(): Promise<ReadyWorker> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`it was not ready after ${START_TIMEOUT_MS / 1_000} seconds`));
      }, START_TIMEOUT_MS);
      void this.ended.then((how) => {
        clearTimeout(timer);
        reject(new Error(`it ended before it was ready (${how})`));
      });
      this.worker.on('message', (message: WorkerMessage) => {
        if (message.type === 'request') void this.reply(message.id, message.request);
        else if (message.type === 'report') this.receive(message.report, message.id);
        else if (message.type === 'connected') {
          if (this.endMessage) this.send(this.endMessage);
        } else {
          clearTimeout(timer);
          if (message.type === 'failed') reject(new Error(message.message));
          if (message.type !== 'ready') return;
          this.isReady = true;
          resolve(message);
        }
      });
    });
  }

  private async reply(id: number, request: WorkerRequest): Promise<void> {
    const reply = await this.listener.replyTo(request, this);
    this.send({ type: 'reply', id, reply });
  }

  private receive(report: MetricReport, id = 0): void {
    this.listener.onReport(this, report);
    this.reports.get(id)?.(report);
  }
}

/**
 * Returns a function that closes the connection that was last handed to a worker, unless the worker has
 * accepted it. Until then, the parent keeps the connection open. If the worker died, the client would wait
 * for it.
 */
function closerOfHandover({ process }: Worker): () => void {
  const send = Reflect.get(process, 'send') as (...args: SendArguments) => boolean;
  let last: SendArguments[1];
  const sendAndKeep = (...args: SendArguments): boolean => {
    last = args[1] ?? last;
    return Reflect.apply(send, process, args);
  };
  Object.assign(process, { send: sendAndKeep });
  return () => last?.close();
}

/** Resolves with the signal or the exit code, after the last message. */
function untilEnded(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: NodeJS.Signals | null) => {
      const end = () => {
        // Node emits no `disconnect` if the worker died while a connection was handed to it.
        worker.disconnect();
        resolve(signal ?? `exit code ${code}`);
      };
      if (!worker.isConnected()) {
        setImmediate(end);
        return;
      }
      const timer = setTimeout(end, LAST_MESSAGE_MS);
      worker.once('disconnect', () => {
        clearTimeout(timer);
        end();
      });
    });
    // If the process could not be forked, there is no `exit`. Sending to a worker that has just ended also
    // emits `error`.
    worker.on('error', ({ message }: Error) => {
      if (worker.process.pid === undefined) resolve(message);
    });
  });
}
