import { type ConcurrencyLimit, MAX_LIMIT } from '../../database/gateway/concurrency-limit.js';

/** The server is overloaded if the queue does not shrink to this part of its maximum within this time. */
const SHRINK_FACTOR = 0.9;
const SHRINK_MS = 350;

/** Newer requests are admitted first, but every eighth admission is for the oldest one. */
const OLDEST_EVERY = 8;

/** The overload ends this long after the last moment with `MAX_LIMIT` or more requests. */
const RECOVERY_MS = 100;

const CHECK_EVERY_MS = 10;

/** Rejections are delayed, because clients that retry at once take CPU time from admitted requests. */
const MIN_REJECTION_DELAY_MS = 100;
const MAX_REJECTION_DELAY_MS = 400;

/** Maximum number of queued requests, and of delayed rejections. Beyond it, the oldest is rejected at once. */
const MAX_QUEUE_LENGTH = 1_024;

/** A request that is not admitted yet. */
export interface PendingRequest {
  admit(): void;
  reject(): void;
  /** The client has closed the connection before the request was admitted or rejected. */
  abort(): void;
  /** @param listener called when the response or its connection is closed */
  onClose(listener: () => void): void;
}

/**
 * Admits requests up to the concurrency limit. The others wait in a queue, and the newest is admitted first,
 * so that latencies stay short. If the queue does not shrink, the server is overloaded: it rejects all queued
 * requests, and new ones until the number of requests is normal again.
 */
export class AdmissionQueue {
  private state: 'normal' | 'queuing' | 'overloaded' = 'normal';
  /** When there last were `MAX_LIMIT` or more requests. Unused while the state is `normal`. */
  private lastSaturated = 0;
  /** The queue, oldest first. */
  private readonly queue: PendingRequest[] = [];
  /** Number of requests that were admitted from the queue. */
  private admitted = 0;
  /** When the length of the queue was last compared, and its maximum since then. */
  private measuredAt = 0;
  private maxLength = 0;
  /** Runs while the queue is not empty. */
  private checks: NodeJS.Timeout | undefined;
  /** Requests whose rejection is delayed, with their timers. */
  private readonly rejected = new Map<PendingRequest, NodeJS.Timeout>();
  private isAdmitting = false;

  constructor(private readonly limit: ConcurrencyLimit) {
    limit.onRelease(() => {
      if (this.state !== 'normal') this.update();
    });
  }

  /** Admits or rejects a request, immediately or later. */
  receive(request: PendingRequest): void {
    if (this.state !== 'normal') this.update();
    if (this.queue.length === 0 && this.limit.available() > 0) {
      request.admit();
      return;
    }
    request.onClose(() => {
      if (this.forget(request)) request.abort();
    });
    if (this.state === 'overloaded' && this.isSaturated()) this.reject(request);
    else this.enqueue(request);
  }

  private enqueue(request: PendingRequest): void {
    if (this.state === 'normal') {
      this.state = 'queuing';
      this.lastSaturated = performance.now();
    }
    this.queue.push(request);
    const oldest = this.queue.length > MAX_QUEUE_LENGTH ? this.queue.shift() : undefined;
    if (oldest) this.reject(oldest);
    this.maxLength = Math.max(this.maxLength, this.queue.length);
    if (this.limit.available() > 0) this.admitQueued();
    if (this.checks) return;
    this.measure();
    this.checks = setInterval(() => {
      // Admitted requests do not always use the database, so `onRelease` alone is not sufficient.
      this.update();
      if (this.queue.length > 0) return;
      clearInterval(this.checks);
      this.checks = undefined;
    }, CHECK_EVERY_MS);
  }

  private measure(): void {
    this.measuredAt = performance.now();
    this.maxLength = this.queue.length;
  }

  /** Updates the state and admits queued requests. */
  private update(): void {
    const now = performance.now();
    if (this.isSaturated()) this.lastSaturated = now;
    else if (this.state !== 'normal' && now - this.lastSaturated > RECOVERY_MS) {
      this.state = 'normal';
      this.limit.reset();
    }
    if (this.queue.length > 0 && now - this.measuredAt > SHRINK_MS) {
      const hasShrunk = this.queue.length <= SHRINK_FACTOR * this.maxLength;
      this.measure();
      if (this.isSaturated() && !hasShrunk) this.shed();
    }
    if (this.queue.length > 0 && this.limit.available() > 0) this.admitQueued();
  }

  private isSaturated(): boolean {
    const { inFlight } = this.limit;
    return inFlight + this.queue.length + this.rejected.size >= MAX_LIMIT;
  }

  /** Admits queued requests up to the concurrency limit, once for all calls in a turn of the event loop. */
  private admitQueued(): void {
    if (this.isAdmitting) return;
    this.isAdmitting = true;
    setImmediate(() => {
      this.isAdmitting = false;
      for (let slots = this.limit.available(); slots > 0; slots--) {
        const isOldestNext = this.admitted % OLDEST_EVERY === 0;
        const next = isOldestNext ? this.queue.shift() : this.queue.pop();
        if (!next) return;
        this.admitted++;
        next.admit();
      }
    });
  }

  private shed(): void {
    this.state = 'overloaded';
    for (const request of this.queue.splice(0)) this.reject(request);
  }

  private reject(request: PendingRequest): void {
    const [oldest] = this.rejected.size < MAX_QUEUE_LENGTH ? [] : this.rejected.keys();
    if (oldest) this.sendRejection(oldest);
    const ms =
      MIN_REJECTION_DELAY_MS + (MAX_REJECTION_DELAY_MS - MIN_REJECTION_DELAY_MS) * Math.random();
    const timer = setTimeout(() => {
      this.sendRejection(request);
    }, ms);
    this.rejected.set(request, timer);
  }

  private sendRejection(request: PendingRequest): void {
    this.forget(request);
    request.reject();
  }

  /** @returns whether the request was queued, or its rejection delayed */
  private forget(request: PendingRequest): boolean {
    const index = this.queue.indexOf(request);
    if (index >= 0) this.queue.splice(index, 1);
    clearTimeout(this.rejected.get(request));
    const wasRejected = this.rejected.delete(request);
    this.update();
    return index >= 0 || wasRejected;
  }
}
