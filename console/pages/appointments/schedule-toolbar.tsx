import type { BookableResource } from 'latitude/client';
import { changeQuery } from '../../state/router.js';
import { texts } from '../../texts.js';
import { addDays, dateOf, isDate } from './days.js';
import type { Choice } from './schedule.js';

const DURATIONS = [15, 30, 45, 60, 90, 120, 180, 240];

interface ScheduleToolbarProps {
  readonly choice: Choice;
  readonly resources: readonly BookableResource[];
}

/** Which days, resource and length of free times the schedule shows. The address has them. */
export function ScheduleToolbar({ choice, resources }: ScheduleToolbarProps) {
  const { days, resource, minutes, withCancelled } = choice;
  const [first = ''] = days;
  const show = (date: string) => {
    changeQuery({ date });
  };
  const durations = DURATIONS.includes(minutes) ? DURATIONS : [...DURATIONS, minutes];
  return (
    <div class="toolbar">
      <div class="actions" role="group" aria-label={texts.appointments.days}>
        <button
          type="button"
          onClick={() => {
            show(addDays(first, -days.length));
          }}
        >
          {texts.appointments.earlier}
        </button>
        <button
          type="button"
          onClick={() => {
            show(dateOf(new Date()));
          }}
        >
          {texts.appointments.today}
        </button>
        <button
          type="button"
          onClick={() => {
            show(addDays(first, days.length));
          }}
        >
          {texts.appointments.later}
        </button>
      </div>
      <label>
        {texts.appointments.date}
        <input
          type="date"
          value={first}
          onChange={({ currentTarget: { value } }) => {
            if (isDate(value)) show(value);
          }}
        />
      </label>
      <Choose
        label={texts.appointments.view}
        value={days.length === 1 ? 'day' : 'week'}
        options={Object.entries(texts.appointments.views)}
        onChange={(view) => {
          changeQuery({ view });
        }}
      />
      <Choose
        label={texts.appointments.resource}
        value={resource ?? ''}
        options={[
          ['', texts.appointments.all],
          ...resources.map(({ id, name }) => [id, name] as const),
        ]}
        onChange={(id) => {
          changeQuery({ resource: id, page: undefined });
        }}
      />
      <Choose
        label={texts.appointments.duration}
        value={String(minutes)}
        options={durations.map((each) => [String(each), texts.appointments.minutes(each)] as const)}
        onChange={(value) => {
          changeQuery({ minutes: value });
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={withCancelled}
          onChange={() => {
            changeQuery({ cancelled: withCancelled ? undefined : 'shown' });
          }}
        />{' '}
        {texts.appointments.withCancelled}
      </label>
    </div>
  );
}

interface ChooseProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

function Choose({ label, value, options, onChange }: ChooseProps) {
  return (
    <label>
      {label}
      <select
        value={value}
        onChange={({ currentTarget }) => {
          onChange(currentTarget.value);
        }}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
