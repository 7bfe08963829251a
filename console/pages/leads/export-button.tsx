import type { LatitudeError, LeadExportQuery } from 'latitude/client';
import { useRef, useState } from 'preact/hooks';
import { Failure } from '../../components/loaded.js';
import type { Sort } from '../../components/table.js';
import { useListState } from '../../lists/list-state.js';
import { announce } from '../../state/announce.js';
import { download } from '../../state/download.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';

const words = texts.exports;

/** Saves all leads of the list as CSV. The page can be used meanwhile. */
export function ExportButton({ order }: { order: Sort }) {
  const { client } = useSignedIn();
  const { filters } = useListState(order);
  const [error, setError] = useState<LatitudeError>();
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController | undefined>(undefined);
  const run = async () => {
    const controller = new AbortController();
    running.current = controller;
    setBusy(true);
    setError(undefined);
    try {
      // With a byte order mark, spreadsheets read it as UTF-8.
      const query = { ...Object.fromEntries(filters), format: 'csv', bom: true } as LeadExportQuery;
      const { signal } = controller;
      download(await client.leads.exportBlob(query, { signal }), 'leads.csv');
      announce(words.done);
    } catch (failure) {
      if (!controller.signal.aborted) setError(failure as LatitudeError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" aria-busy={isBusy} disabled={isBusy} onClick={() => void run()}>
        {isBusy ? words.busy : words.start}
      </button>
      {isBusy && (
        <button
          type="button"
          onClick={() => {
            running.current?.abort();
          }}
        >
          {texts.form.cancel}
        </button>
      )}
      {error && <Failure error={error} title={words.failed} />}
    </>
  );
}
