import type { LatitudeClient, LatitudeError, RecordEvent } from 'latitude/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSignedIn } from '../../state/session.js';

/** Older events are dropped, so that a page that is open for days stays fast. */
const MAX_EVENTS = 300;
const WAIT_SECONDS = 25;
const LIMIT = 100;
/** At least so long from one request to the next, so that many changes do not use up the limit of the key. */
const PAUSE_MS = 2_000;
const RETRY_MS = 5_000;

export interface LiveEvents {
  /** Newest first. */
  readonly events: readonly RecordEvent[];
  readonly error: LatitudeError | undefined;
}

/**
 * Follows the events of the organization. After a pause, it continues where it was.
 * @param types separated by commas; undefined follows all
 * @param from `latest`, or undefined for the oldest that is stored
 */
export function useLiveEvents(
  types: string | undefined,
  from: string | undefined,
  isPaused: boolean,
): LiveEvents {
  const { client } = useSignedIn();
  const [live, setLive] = useState<LiveEvents>({ events: [], error: undefined });
  const after = useRef(from);
  useEffect(() => {
    if (isPaused) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    void follow({ client, types, after, signal }, (events, error) => {
      setLive((before) => {
        const all = [...events].reverse().concat(before.events);
        return { events: all.slice(0, MAX_EVENTS), error };
      });
    });
    return () => {
      controller.abort();
    };
  }, [client, types, isPaused]);
  return live;
}

interface Feed {
  readonly client: LatitudeClient;
  readonly types: string | undefined;
  /** Where to continue. */
  readonly after: { current: string | undefined };
  readonly signal: AbortSignal;
}

async function follow(
  { client, types, after, signal }: Feed,
  tell: (events: readonly RecordEvent[], error?: LatitudeError) => void,
): Promise<void> {
  while (!signal.aborted) {
    const wait = after.current === 'latest' ? 0 : WAIT_SECONDS;
    const query = { after: after.current, types, limit: LIMIT, wait };
    try {
      const { data, meta } = await client.events.list(query, { signal });
      after.current = meta.next;
      tell(data);
      await pause(PAUSE_MS, signal);
    } catch (error) {
      if ((error as LatitudeError).code === 'aborted') return;
      tell([], error as LatitudeError);
      if (!(error as LatitudeError).retryable) return;
      await pause(RETRY_MS, signal);
    }
  }
}

/** Ends early when the signal aborts. */
const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
