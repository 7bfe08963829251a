import type { Appointment } from 'latitude/client';
import { useState } from 'preact/hooks';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Pager } from '../../components/pager.js';
import { announce } from '../../state/announce.js';
import { useQuery } from '../../state/query.js';
import { navigate, useRoute } from '../../state/router.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';
import { BookDialog } from './book-dialog.js';
import { addDays, dateOf, isDate, mondayOf, startOf } from './days.js';
import { MoveDialog } from './move-dialog.js';
import { type Choice, readSchedule, type Slot, windowOf } from './schedule.js';
import { ScheduleTable } from './schedule-table.js';
import { ScheduleToolbar } from './schedule-toolbar.js';
import { ViewSwitch } from './view-switch.js';

const DEFAULT_MINUTES = 60;
const HOUR_MS = 3_600_000;
const [MIN_MINUTES, MAX_MINUTES] = [5, 1_440];

/** Where a week would be too wide. */
const NARROW = '(max-width: 40rem)';

/** Appointments by day and resource, with the free times. A click on one books it, or moves an appointment to it. */
export function SchedulePage() {
  const may = useMay();
  const moved = useMoved();
  const choice = useChoice(moved);
  const [slot, setSlot] = useState<Slot>();
  const result = useQuery(`schedule ${JSON.stringify(choice)}`, (client, signal) =>
    readSchedule(client, choice, signal),
  );
  const resources = result.data?.resources ?? [];
  const mayBook = may('appointments:write') && (moved !== undefined || may('leads:read'));
  const close = () => {
    setSlot(undefined);
  };
  return (
    <Page
      title={texts.appointments.title}
      actions={
        mayBook &&
        !moved && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              setSlot(firstTime(choice));
            }}
          >
            {texts.appointments.create}
          </button>
        )
      }
    >
      {moved ? (
        <Moving appointment={moved} />
      ) : (
        <ViewSwitch isList={false} other={listQuery(choice)} />
      )}
      <ScheduleToolbar choice={choice} resources={resources} />
      <Loaded of={result}>
        {(schedule) => (
          <>
            {schedule.isCut && <p class="notice">{texts.appointments.cut}</p>}
            {resources.length === 0 && <p class="hint">{texts.appointments.noResources}</p>}
            <ScheduleTable
              schedule={schedule}
              days={choice.days}
              onFree={mayBook ? setSlot : undefined}
            />
            <Pager
              next={choice.page < schedule.pages ? String(choice.page + 1) : undefined}
              isFurther={choice.page > 1}
            />
          </>
        )}
      </Loaded>
      {slot && !moved && (
        <BookDialog
          slot={slot}
          resources={resources}
          onBooked={() => {
            close();
            result.reload();
          }}
          onClose={close}
        />
      )}
      {slot && moved && (
        <MoveDialog
          appointment={moved}
          slot={slot}
          resources={resources}
          onMoved={() => {
            announce(texts.form.saved);
            navigate(`appointments/${moved.id}`);
          }}
          onClose={close}
        />
      )}
    </Page>
  );
}

/** The filters and the order of the list that shows the same appointments. */
function listQuery(choice: Choice) {
  const [from, to] = windowOf(choice);
  return {
    start_after: from,
    start_before: to,
    resource_id: choice.resource,
    sort: 'start_time:asc',
  };
}

/** A time to begin with, for an appointment that needs no free time: the next hour, or on another day nine o'clock. */
function firstTime({ days: [day = ''], resource = '' }: Choice): Slot {
  const hour = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
  const isPast = startOf(day).getTime() <= hour;
  const start = isPast ? hour : startOf(day).setHours(9);
  const timeAt = (ms: number) => new Date(ms).toISOString();
  return { resource_id: resource, start_time: timeAt(start), end_time: timeAt(start + HOUR_MS) };
}

/** The appointment that is moved, which the address names. */
function useMoved(): Appointment | undefined {
  const id = useRoute().query.get('move') ?? undefined;
  const { data } = useQuery(id && `appointment ${id}`, (client, signal) =>
    client.appointments.get(id ?? '', { signal }),
  );
  return data;
}

function Moving({ appointment: { id, type } }: { appointment: Appointment }) {
  return (
    <p class="notice">
      {texts.appointments.moving}{' '}
      <Link to={`appointments/${id}`}>
        <bdi>{type ?? texts.appointments.one}</bdi>
      </Link>
    </p>
  );
}

/** What the address chooses. Free times are as long as an appointment that is moved. */
function useChoice(moved: Appointment | undefined): Choice {
  const { query } = useRoute();
  const withLeads = useMay()('leads:read');
  const given = query.get('date') ?? '';
  const date = isDate(given) ? given : dateOf(new Date());
  const isDay = (query.get('view') ?? (matchMedia(NARROW).matches ? 'day' : 'week')) === 'day';
  const from = isDay ? date : mondayOf(date);
  const minutes = moved ? lengthOf(moved) : Number(query.get('minutes') ?? DEFAULT_MINUTES);
  return {
    days: Array.from({ length: isDay ? 1 : 7 }, (_, index) => addDays(from, index)),
    resource: query.get('resource') ?? undefined,
    page: Math.max(1, Math.trunc(Number(query.get('from'))) || 1),
    minutes: Math.min(Math.max(Math.trunc(minutes) || DEFAULT_MINUTES, MIN_MINUTES), MAX_MINUTES),
    withCancelled: query.get('cancelled') !== null,
    withLeads,
  };
}

const lengthOf = ({ start_time: start, end_time: end }: Appointment) =>
  (Date.parse(end) - Date.parse(start)) / 60_000;
