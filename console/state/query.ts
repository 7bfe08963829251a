import type { LatitudeClient, LatitudeError } from 'latitude/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connection } from './connection.js';
import { keepResult, resultOf } from './results.js';
import { useSignedIn } from './session.js';

/** What a view has read. Earlier data stays while it is read again. */
export interface Result<T> {
  readonly data?: T | undefined;
  readonly error?: LatitudeError | undefined;
  readonly isLoading: boolean;
  /** Reads again. */
  readonly reload: () => void;
  /** Replaces the data, for example by the response to an update. */
  readonly replace: (data: T) => void;
}

type Load<T> = (client: LatitudeClient, signal: AbortSignal) => Promise<T>;

/** How long after a lost connection a read is repeated. */
const RETRY_MS = 5_000;

/**
 * Reads from the API when the name changes, and aborts what is no longer wanted.
 * @param name identifies what is read; undefined reads nothing
 */
export function useQuery<T>(name: string | undefined, load: Load<T>): Result<T> {
  const { client } = useSignedIn();
  const latest = useRef(load);
  latest.current = load;
  const [reloads, setReloads] = useState(0);
  const [lastRead, setLastRead] = useState<{ name?: string; error?: LatitudeError }>({});
  useEffect(() => {
    if (name === undefined) return undefined;
    const controller = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      try {
        const result = await latest.current(client, controller.signal);
        if (controller.signal.aborted) return;
        keepResult(name, result);
        setLastRead({ name });
      } catch (error) {
        if (controller.signal.aborted) return;
        setLastRead({ name, error: error as LatitudeError });
        if (connection.value.state === 'lost') retry = setTimeout(again, RETRY_MS);
      }
    };
    const again = () => {
      clearTimeout(retry);
      void run();
    };
    addEventListener('online', again);
    void run();
    return () => {
      removeEventListener('online', again);
      clearTimeout(retry);
      controller.abort();
    };
  }, [name, client, reloads]);
  const isRead = name === lastRead.name;
  return {
    data: name === undefined ? undefined : (resultOf(name) as T | undefined),
    error: isRead ? lastRead.error : undefined,
    isLoading: name !== undefined && !isRead,
    reload: () => {
      setReloads(reloads + 1);
    },
    replace: (data) => {
      if (name === undefined) return;
      keepResult(name, data);
      setLastRead({ name });
    },
  };
}
