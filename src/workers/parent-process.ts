import { withTimeout } from '../config/timeout.js';
import { takeWorkerOptions } from '../config/worker-options.js';
import {
  type Ending,
  type MetricReport,
  type ParentMessage,
  type WorkerRequest,
  type Replies,
  type Reply,
  type WorkerMessage,
  type WorkerOptions,
} from './messages.js';

/** The process that started this worker. When it ends, node:cluster ends its workers. */
export class ParentProcess {
  /** Resolves when the parent ends this worker. */
  readonly ending: Promise<Ending>;
  private readonly replies = new Map<number, (reply: Reply) => void>();
  private lastRequest = 0;
  private report: () => Promise<MetricReport> = () => Promise.resolve([]);

  private constructor(readonly options: WorkerOptions) {
    this.ending = new Promise((resolve) => {
      process.on('message', (message: ParentMessage) => {
        if (message.type === 'end') resolve(message.ending);
        else if (message.type === 'reply') this.replies.get(message.id)?.(message.reply);
        else void this.sendReport(message.id);
      });
    });
    void this.send({ type: 'connected' });
  }

  /** @returns undefined if this process is not a worker */
  static connect(): ParentProcess | undefined {
    const options = takeWorkerOptions();
    if (options === undefined || !process.send) return undefined;
    return new ParentProcess(JSON.parse(options) as WorkerOptions);
  }

  /** @returns resolves when the message is sent */
  send(message: WorkerMessage): Promise<void> {
    return new Promise((resolve) => {
      process.send?.(message, undefined, undefined, () => {
        resolve();
      });
    });
  }

  /** @throws Error if the parent does not reply in time */
  async request<R extends WorkerRequest>(
    request: R,
    timeoutMs: number,
  ): Promise<Replies[R['topic']]> {
    const id = ++this.lastRequest;
    const reply = new Promise<Reply>((resolve) => this.replies.set(id, resolve));
    void this.send({ type: 'request', id, request });
    try {
      return (await withTimeout(reply, timeoutMs)) as Replies[R['topic']];
    } finally {
      this.replies.delete(id);
    }
  }

  /** Sets how the metrics of this process are read. */
  reportBy(report: () => Promise<MetricReport>): void {
    this.report = report;
  }

  /** Sends the metrics of this process. */
  async sendReport(id?: number): Promise<void> {
    await this.send({ type: 'report', report: await this.report(), id });
  }
}
