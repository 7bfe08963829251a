import type { Settings } from '../../../platform/config/settings.js';

const MAX_PAUSE_MS = 60_000;

/**
 * The times of a session, in milliseconds. A session must end after its time to live without use, and at most a tenth
 * later (docs/contract/mcp.md#session-lifetime). A use stores an end that is `maxMs` away. Later uses write nothing
 * while the stored end is at least `minMs` away, so that a session is written once in a while.
 */
export function lifetimeOf({ mcpSessionTtlSeconds }: Settings) {
  const minMs = mcpSessionTtlSeconds * 1_000;
  return {
    minMs,
    /** The rest of the tenth is for the time that statements take. */
    maxMs: 1.06 * minMs,
    /** An open stream is a use at every moment. Its session is written when it has less time left than this. */
    streamMs: 1.03 * minMs,
    /** The pause between two checks of the stored ends, which is shorter than what `streamMs` exceeds `minMs` by. */
    checkMs: Math.min(0.01 * minMs, MAX_PAUSE_MS),
  };
}
