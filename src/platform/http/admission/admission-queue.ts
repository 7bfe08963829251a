import type { ConcurrencyLimit } from '../../data/gateway/policies.js';

const CHECK_INTERVAL_MS = 10;

/**
 * How many waiting requests are admitted in one turn of the event loop. Node accepts one connection in each turn, so
 * that long turns would delay new connections. While connections arrive, one request is admitted in a turn.
 */
const ADMISSIONS_PER_TURN = 8;

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
 * Admits requests up to the concurrency limit. The others wait in order of arrival, and are rejected when they have
 * waited too long.
 */
export class AdmissionQueue {
  /** The waiting requests in order of arrival, and when they arrived. */
  private readonly waiting = new Map<PendingRequest, number>();
  /** Runs while requests wait. */
  private checks: NodeJS.Timeout | undefined;
  private isAdmitting = false;
  /** Whether the server has accepted a connection since requests were last admitted. */
  private hasNewConnection = false;

  /** @param maxWaitMs how long a request may wait */
  constructor(
    private readonly limit: ConcurrencyLimit,
    private readonly maxWaitMs: number,
  ) {
    limit.onRelease(() => {
      this.admitSoon();
    });
  }

  /** Admits or rejects a request, immediately or later. */
  receive(request: PendingRequest): void {
    if (this.waiting.size === 0 && !this.limit.isReached) {
      request.admit();
      return;
    }
    this.waiting.set(request, performance.now());
    request.onClose(() => {
      if (this.waiting.delete(request)) request.abort();
    });
    // Admitted requests do not always use the database, so `onRelease` alone is not sufficient.
    this.checks ??= setInterval(() => {
      this.check();
    }, CHECK_INTERVAL_MS);
  }

  /**
   * Records that the server has accepted a connection. More connections may wait to be accepted, so that the next
   * turn of the event loop has to be short.
   */
  noteConnection(): void {
    this.hasNewConnection = true;
  }

  private check(): void {
    this.admitSoon();
    const now = performance.now();
    for (const [request, arrivedAt] of this.waiting) {
      if (now - arrivedAt < this.maxWaitMs) break;
      this.waiting.delete(request);
      request.reject();
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.checks);
    this.checks = undefined;
  }

  private admitSoon(): void {
    if (this.isAdmitting || this.waiting.size === 0 || this.limit.isReached) return;
    this.isAdmitting = true;
    setImmediate(() => {
      this.isAdmitting = false;
      let free = Math.min(this.limit.available, this.hasNewConnection ? 1 : ADMISSIONS_PER_TURN);
      this.hasNewConnection = false;
      for (const request of this.waiting.keys()) {
        if (free-- <= 0) break;
        this.waiting.delete(request);
        request.admit();
      }
      this.admitSoon();
    });
  }
}
