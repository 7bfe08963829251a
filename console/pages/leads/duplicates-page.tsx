import type { LatitudeClient, LeadGroup } from 'latitude/client';
import { useId, useState } from 'preact/hooks';
import { LeadDescription } from '../../components/lead-description.js';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { useQuery } from '../../state/query.js';
import { changeQuery, useRoute } from '../../state/router.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';

/** How many more groups are shown at a time. */
const STEP = 20;
const MAX_LIMIT = 100;

/** Groups of leads that are likely the same person. */
export function DuplicatesPage() {
  const { query } = useRoute();
  const count = Math.max(STEP, Math.trunc(Number(query.get('count'))) || 0);
  const groups = useQuery(`${count} groups of duplicates`, (client, signal) =>
    readGroups(client, count, signal),
  );
  return (
    <Page title={texts.duplicates.title}>
      <p class="hint">{texts.duplicates.explanation}</p>
      <Loaded of={groups} isEmpty={(data) => data.length === 0} empty={texts.duplicates.empty}>
        {(data) => (
          <>
            {data.slice(0, count).map((group) => (
              <Group key={group.leads.map(({ id }) => id).join()} group={group} />
            ))}
            {data.length > count && (
              <button
                type="button"
                onClick={() => {
                  changeQuery({ count: String(count + STEP) });
                }}
              >
                {texts.duplicates.more}
              </button>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The first groups, and one more if there is one. */
async function readGroups(
  client: LatitudeClient,
  count: number,
  signal: AbortSignal,
): Promise<LeadGroup[]> {
  const groups: LeadGroup[] = [];
  const limit = Math.min(MAX_LIMIT, count + 1);
  for await (const group of client.leads.duplicates({ limit }, { signal })) {
    groups.push(group);
    if (groups.length > count) break;
  }
  return groups;
}

/** A person chooses the lead that stays, and then each lead that is merged into it. */
function Group({ group: { leads, total, reasons } }: { group: LeadGroup }) {
  const name = useId();
  const mayMerge = useMay()('leads:write');
  const [kept, setKept] = useState(leads[0]?.id);
  const because = new Intl.ListFormat('en').format(
    reasons.map((reason) => texts.duplicates.reasons[reason]),
  );
  return (
    <fieldset class="card">
      <legend>{texts.duplicates.group(total, because)}</legend>
      <ul class="plain">
        {leads.map((lead) => (
          <li key={lead.id} class="choice">
            {mayMerge ? (
              <label class="choice">
                <input
                  type="radio"
                  name={name}
                  checked={lead.id === kept}
                  onChange={() => {
                    setKept(lead.id);
                  }}
                />
                <LeadDescription lead={lead} />
              </label>
            ) : (
              <LeadDescription lead={lead} />
            )}
            <Link to={`leads/${lead.id}`}>{texts.duplicates.show}</Link>
            {mayMerge && kept !== undefined && lead.id !== kept && (
              <Link to={`leads/${kept}/merge`} query={{ with: lead.id }}>
                {texts.duplicates.merge}
              </Link>
            )}
            {mayMerge && lead.id === kept && <span class="hint">{texts.duplicates.stays}</span>}
          </li>
        ))}
      </ul>
      {total > leads.length && <p class="hint">{texts.duplicates.others(total - leads.length)}</p>}
    </fieldset>
  );
}
