import { Link } from '../../components/link.js';
import type { Query } from '../../state/router.js';
import { texts } from '../../texts.js';

interface ViewSwitchProps {
  readonly isList: boolean;
  /** What the other view shows of the same appointments. */
  readonly other: Query;
}

/** Switches between the schedule and the list of appointments. */
export function ViewSwitch({ isList, other }: ViewSwitchProps) {
  return (
    <nav class="actions" aria-label={texts.appointments.view}>
      <Link to="appointments" query={isList ? other : undefined} class="button" isCurrent={!isList}>
        {texts.appointments.schedule}
      </Link>
      <Link
        to="appointments/list"
        query={isList ? undefined : other}
        class="button"
        isCurrent={isList}
      >
        {texts.appointments.list}
      </Link>
    </nav>
  );
}
