import { Page } from '../../components/page.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';
import { FailedDeliveries, NextAppointments, OverdueTasks, RunningImports } from './work.js';
import { LeadsBy, NewLeads } from './leads.js';

/** The scopes of which each shows a part. */
const PARTS = ['leads:read', 'appointments:read', 'tasks:read', 'webhooks:read'] as const;

/** What an operator wants to know first. Each part is read by itself, so that none waits for another. */
export function StartPage() {
  const may = useMay();
  const hasParts = PARTS.some((scope) => may(scope));
  return (
    <Page title={texts.start.title}>
      {!hasParts && <p class="hint">{texts.start.nothing}</p>}
      <div class="columns">
        {may('leads:read') && <NewLeads />}
        {may('leads:read') && <LeadsBy field="status" />}
        {may('leads:read') && <LeadsBy field="temperature" />}
        {may('appointments:read') && <NextAppointments />}
        {may('tasks:read') && <OverdueTasks />}
        {may('webhooks:read') && <FailedDeliveries />}
        {may('leads:read') && <RunningImports />}
      </div>
    </Page>
  );
}
