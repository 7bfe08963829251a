import type { EventsPage, LatitudeClient } from 'latitude/client';
import { useEffect } from 'preact/hooks';
import { useQuery } from '../state/query.js';
import { texts } from '../texts.js';
import { Change } from './change.js';
import { Loaded } from './loaded.js';
import { Time } from './time.js';

type Event = EventsPage['data'][number];

interface TimelineProps {
  /** The id of the record. */
  readonly id: string;
  /** The time of its last change, after which its events are read again. */
  readonly updatedAt: string;
  /** Reads a page of the events of the record, the oldest first. */
  readonly read: (
    client: LatitudeClient,
    query: { after?: string; limit: number },
    signal: AbortSignal,
  ) => Promise<EventsPage>;
}

const PAGE_SIZE = 100;

/** How many events are shown. */
const MAX_SHOWN = 200;

/** How long after the response to a change its event may still be missing. */
const PUBLICATION_MS = 1_000;

/** Who changed a record and how, in plain words, the newest first. */
export function Timeline({ id, updatedAt, read }: TimelineProps) {
  const history = useQuery(`events of ${id}`, async (client, signal) => {
    const events: Event[] = [];
    let after: string | undefined;
    for (;;) {
      const query = { limit: PAGE_SIZE, ...(after === undefined ? {} : { after }) };
      const { data, meta } = await read(client, query, signal);
      events.push(...data);
      if (!meta.has_more) return events.toReversed();
      after = meta.next;
    }
  });
  const { reload } = history;
  useEffect(() => {
    const timer = setTimeout(reload, PUBLICATION_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [updatedAt]);
  return (
    <section class="card">
      <h2>{texts.timeline.title}</h2>
      <Loaded of={history} isEmpty={(events) => events.length === 0} empty={texts.timeline.empty}>
        {(events) => (
          <>
            <ol class="timeline">
              {events.slice(0, MAX_SHOWN).map((event) => (
                <li key={event.id}>
                  <Change event={event} withRecord={false} />{' '}
                  <span class="hint">
                    <Time value={event.created_at} isAgo />
                  </span>
                </li>
              ))}
            </ol>
            {events.length > MAX_SHOWN && <p class="hint">{texts.timeline.latest(MAX_SHOWN)}</p>}
          </>
        )}
      </Loaded>
    </section>
  );
}
