import { type Bar, BarPicture, BarTable } from '../../components/bars.js';
import { ZONE } from '../../components/time.js';
import { useQuery } from '../../state/query.js';
import { texts, wordFor } from '../../texts.js';
import { addDays, dateOf, startOf } from '../appointments/days.js';
import { Part } from './part.js';

const DAYS = 30;

const DATE = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });

/** New leads of each of the last thirty days, in the zone of the browser. */
export function NewLeads() {
  const today = dateOf(new Date());
  const days = Array.from({ length: DAYS }, (_, index) => addDays(today, index - DAYS + 1));
  const since = startOf(days[0] ?? today).toISOString();
  const counts = useQuery(`new leads since ${since}`, async (client, signal) => {
    const query = { by: 'created_day', created_after: since, time_zone: ZONE } as const;
    const { data } = await client.leads.counts(query, { signal });
    return new Map(data.map(({ value, count }) => [value, count]));
  });
  return (
    <Part title={texts.start.newLeads} of={counts}>
      {(byDay) => (
        <BarPicture
          caption={texts.start.newLeads}
          label={texts.start.day}
          bars={days.map((day) => ({
            label: DATE.format(startOf(day)),
            count: byDay.get(day) ?? 0,
            to: 'leads',
            query: {
              created_after: startOf(day).toISOString(),
              created_before: startOf(addDays(day, 1)).toISOString(),
            },
          }))}
        />
      )}
    </Part>
  );
}

/** The numbers of leads by the value of a field. */
export function LeadsBy({ field }: { field: 'status' | 'temperature' }) {
  const title = texts.start.leadsBy[field];
  const counts = useQuery(`leads by ${field}`, async (client, signal) => {
    const { data } = await client.leads.counts({ by: field }, { signal });
    return data.map(({ value, count }): Bar => {
      const text = value === null ? undefined : String(value);
      const query =
        text === undefined
          ? { filter: JSON.stringify({ [field]: { is_empty: true } }) }
          : { [field]: text };
      const label = text === undefined ? texts.data.noValue : wordFor(texts.leads.values, text);
      return { label, count, to: 'leads', query };
    });
  });
  return (
    <Part title={title} of={counts} isEmpty={(bars) => bars.length === 0}>
      {(bars) => <BarTable caption={title} label={texts.leads.labels[field]} bars={bars} />}
    </Part>
  );
}
