import type { EventsPage, LatitudeClient } from 'latitude/client';
import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../state/query.js';
import { texts } from '../texts.js';
import { Change } from './change.js';
import { Loaded } from './loaded.js';
import { Time } from './time.js';

interface TimelineProps {
  /** Of the record. */
  readonly id: string;
  /** The time of its last change, after which its events are read again. */
  readonly updatedAt: string;
  /** Reads the events of the record. */
  readonly read: (
    client: LatitudeClient,
    query: { after?: string; limit: number },
    signal: AbortSignal,
  ) => Promise<EventsPage>;
}

const MAX_EVENTS = 100;

/** An event can be read shortly after the response to its change. */
const PUBLICATION_MS = 1_000;

/** Who changed a record and how, in plain words, the newest first. */
export function Timeline({ id, updatedAt, read }: TimelineProps) {
  const [after, setAfter] = useState<string>();
  const page = useQuery(`events of ${id} ${after ?? ''}`, (client, signal) =>
    read(client, { limit: MAX_EVENTS, ...(after === undefined ? {} : { after }) }, signal),
  );
  const { reload } = page;
  useEffect(() => {
    const timer = setTimeout(reload, PUBLICATION_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [updatedAt]);
  return (
    <section class="card">
      <h2>{texts.timeline.title}</h2>
      <Loaded of={page} isEmpty={({ data }) => data.length === 0} empty={texts.timeline.empty}>
        {({ data, meta }) => (
          <>
            {meta.has_more && (
              <button
                type="button"
                onClick={() => {
                  setAfter(meta.next);
                }}
              >
                {texts.timeline.more}
              </button>
            )}
            <ol class="timeline">
              {data.toReversed().map((event) => (
                <li key={event.id}>
                  <Change event={event} withRecord={false} />{' '}
                  <span class="hint">
                    <Time value={event.created_at} isAgo />
                  </span>
                </li>
              ))}
            </ol>
          </>
        )}
      </Loaded>
    </section>
  );
}
