import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { useQuery } from '../../state/query.js';
import { useRoute } from '../../state/router.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';
import { addDays, dateOf, isDate, mondayOf } from './days.js';
import { type Choice, readSchedule } from './schedule.js';
import { ScheduleTable } from './schedule-table.js';
import { ScheduleToolbar } from './schedule-toolbar.js';

const DEFAULT_MINUTES = 60;
const MAX_MINUTES = 1_440;

/** Where a week would be too wide. */
const NARROW = '(max-width: 40rem)';

/** Appointments by day and resource, with the free times. */
export function SchedulePage() {
  const choice = useChoice();
  const result = useQuery(`schedule ${JSON.stringify(choice)}`, (client, signal) =>
    readSchedule(client, choice, signal),
  );
  return (
    <Page title={texts.appointments.title}>
      <ScheduleToolbar choice={choice} resources={result.data?.resources ?? []} />
      <Loaded of={result}>
        {(schedule) => (
          <>
            {schedule.isCut && <p class="notice">{texts.appointments.cut}</p>}
            <ScheduleTable schedule={schedule} days={choice.days} onFree={undefined} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** What the address chooses. */
function useChoice(): Choice {
  const { query } = useRoute();
  const withLeads = useMay()('leads:read');
  const given = query.get('date') ?? '';
  const date = isDate(given) ? given : dateOf(new Date());
  const isDay = (query.get('view') ?? (matchMedia(NARROW).matches ? 'day' : 'week')) === 'day';
  const from = isDay ? date : mondayOf(date);
  const minutes = Number(query.get('minutes'));
  return {
    days: Array.from({ length: isDay ? 1 : 7 }, (_, index) => addDays(from, index)),
    resource: query.get('resource') ?? undefined,
    page: Math.max(1, Math.trunc(Number(query.get('from'))) || 1),
    minutes: minutes >= 5 && minutes <= MAX_MINUTES ? Math.trunc(minutes) : DEFAULT_MINUTES,
    withCancelled: query.get('cancelled') !== null,
    withLeads,
  };
}
