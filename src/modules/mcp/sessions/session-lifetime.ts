import type { Settings } from '../../../platform/config/settings.js';

/**
 * A session ends at the latest at this multiple of its time to live. The contract allows a tenth more; the rest is for
 * the time of statements.
 */
const MAX_LIFETIME = 1.06;

/** An open stream is a use. Its session always has at least the time to live and this part of it left. */
const STREAM_MARGIN = 0.03;

/** How often sessions with streams are looked at, as a part of the time to live, and at least once a minute. */
const STREAM_CHECKS = 0.01;
const MAX_PAUSE_MS = 60_000;

/** A session that is unused for this time, or for half its time to live, is removed from memory. */
const MAX_UNUSED_MS = 60_000;

/**
 * The times of a session without use, in milliseconds. A use stores its end, `maxMs` later. Later uses write nothing
 * while the end is at least `minMs` away. So a session ends between `minMs` and `maxMs` after its last use, and is
 * written once in a while.
 */
export function lifetimeOf({ mcpSessionTtlSeconds }: Settings) {
  const minMs = mcpSessionTtlSeconds * 1_000;
  return {
    minMs,
    maxMs: minMs * MAX_LIFETIME,
    /** A session with a stream that has less time left is written. */
    streamMs: minMs * (1 + STREAM_MARGIN),
    /** A session with less time left has not been used for a while. */
    unusedMs: minMs - Math.min(minMs / 2, MAX_UNUSED_MS),
    /** The pause between the checks of sessions with streams. */
    pauseMs: Math.min(minMs * STREAM_CHECKS, MAX_PAUSE_MS),
  };
}
