/** If fewer requests are left, they are counted one by one. Otherwise a process may take some in advance. */
export const COUNTED_SINGLY = 1_000;

/** A process takes at most 1 / `ADVANCE_SHARE` of the requests that are left, and at most `MAX_ADVANCE`. */
export const ADVANCE_SHARE = 100;
export const MAX_ADVANCE = 256;

/** Requests of one key. */
export interface WindowRequest {
  readonly key: string;
  /** Length of the window in milliseconds. */
  readonly ttl: number;
  readonly limit: number;
  /** Number of requests to count; 0 only reads the window, a negative number returns requests. */
  readonly asked: number;
}

/** The state of a window where processes share it. */
export interface WindowReply {
  /** Requests that were counted before. */
  readonly hits: number;
  /** Requests that are allowed now, which may be more than were asked for. */
  readonly allowed: number;
  /** End of the window in milliseconds since the epoch. */
  readonly endsAt: number;
  /** Milliseconds until the end of the window. */
  readonly msLeft: number;
}

/** Counts requests in windows that several processes share. */
export interface SharedWindows {
  /** Whether the windows can be used now. */
  readonly isOpen: boolean;
  /** Whether processes on several machines share the windows. */
  readonly spanMachines: boolean;
  open(): Promise<void>;
  close(): void;
  /** @throws Error if there is no reply in time */
  run(requests: readonly WindowRequest[]): Promise<readonly WindowReply[]>;
}
