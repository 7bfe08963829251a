import { useState } from 'preact/hooks';
import { Change } from '../../components/change.js';
import { Failure } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Time } from '../../components/time.js';
import { changeQuery, useRoute } from '../../state/router.js';
import { texts } from '../../texts.js';
import { TypeChoice } from './type-choice.js';
import { useLiveEvents } from './live-events.js';

/** What changes in the organization, as it happens. */
export function EventsPage() {
  const { query } = useRoute();
  const types = query.get('types') ?? '';
  const chosen = types.split(',').filter((type) => type !== '');
  const isFromStart = query.get('from') === 'oldest';
  const setTypes = (all: readonly string[]) => {
    changeQuery({ types: all.join(',') });
  };
  return (
    <Page title={texts.events.title}>
      <p class="hint">{texts.events.explanation}</p>
      <details>
        <summary>{texts.events.choose(chosen.length)}</summary>
        <TypeChoice label={texts.events.onlyTypes} chosen={chosen} onChange={setTypes} />
      </details>
      <Feed
        key={`${types} ${String(isFromStart)}`}
        types={types || undefined}
        isFromStart={isFromStart}
      />
    </Page>
  );
}

function Feed({ types, isFromStart }: { types: string | undefined; isFromStart: boolean }) {
  const [isPaused, setPaused] = useState(false);
  const { events, error } = useLiveEvents(types, isFromStart ? undefined : 'latest', isPaused);
  return (
    <>
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            setPaused(!isPaused);
          }}
        >
          {isPaused ? texts.events.resume : texts.events.pause}
        </button>
        <button
          type="button"
          onClick={() => {
            changeQuery({ from: isFromStart ? undefined : 'oldest' });
          }}
        >
          {isFromStart ? texts.events.fromNow : texts.events.fromOldest}
        </button>
      </div>
      {error && <Failure error={error} />}
      {events.length === 0 && !error && (
        <p class="hint">{isPaused ? texts.events.paused : texts.events.waiting}</p>
      )}
      <div role="log" aria-label={texts.events.title}>
        <ul class="events">
          {events.map((event) => (
            <li key={event.id}>
              <Change event={event} /> <Time value={event.created_at} />
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
