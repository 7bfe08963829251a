import type { AllHTMLAttributes } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LeadDescription } from '../components/lead-description.js';
import { Loaded } from '../components/loaded.js';
import { useQuery } from '../state/query.js';
import { texts } from '../texts.js';

const MAX_FOUND = 8;
/** How long a pause of typing starts the search. */
const PAUSE_MS = 300;

type AttributeName = 'aria-invalid' | 'aria-describedby' | 'aria-required' | 'dir';

interface LeadPickerProps {
  /** Attributes of the search, such as its id. */
  readonly input: Pick<AllHTMLAttributes, AttributeName> & { id: string };
  /** The id of the chosen lead, or empty. */
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** Finds a lead and chooses it. */
export function LeadPicker({ input, value, onChange }: LeadPickerProps) {
  const [text, setText] = useState('');
  const search = usePaused(text.trim());
  const chosen = useQuery(value === '' ? undefined : `lead ${value}`, (client, signal) =>
    client.leads.get(value, { signal }),
  );
  const found = useQuery(search === '' ? undefined : `leads found by ${search}`, (client, signal) =>
    client.leads.list({ search, limit: MAX_FOUND }, { signal }),
  );
  const others = (found.data?.data ?? []).filter(({ id }) => id !== value);
  const leads = value !== '' && chosen.data ? [chosen.data, ...others] : others;
  return (
    <>
      <input
        {...input}
        type="search"
        autoComplete="off"
        placeholder={texts.leadPicker.search}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.preventDefault();
        }}
      />
      <fieldset hidden={leads.length === 0}>
        <legend>{texts.leadPicker.found}</legend>
        {leads.map((lead) => (
          <label key={lead.id} class="choice">
            <input
              type="radio"
              name={`${input.id}-lead`}
              checked={lead.id === value}
              onChange={() => {
                onChange(lead.id);
              }}
            />
            <LeadDescription lead={lead} />
          </label>
        ))}
      </fieldset>
      {search !== '' && (
        <Loaded of={found} isEmpty={({ data }) => data.length === 0} empty={texts.leadPicker.none}>
          {() => null}
        </Loaded>
      )}
    </>
  );
}

/** The last text that did not change for a moment. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      setPaused(text);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  return paused;
}
