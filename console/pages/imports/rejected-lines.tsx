import type { LatitudeError, LeadImport } from 'latitude/client';
import { useRef, useState } from 'preact/hooks';
import { Failure, Loaded } from '../../components/loaded.js';
import { Text, Value } from '../../components/text.js';
import { Field } from '../../forms/field.js';
import { download } from '../../state/download.js';
import { draftOf, keepDraft } from '../../state/drafts.js';
import { useQuery } from '../../state/query.js';
import { navigate, useRoute } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { type CsvTable, parseCsv, toCsv } from './csv.js';

const words = texts.imports;

/** So many lines can be mended here. More are for a spreadsheet. */
const MAX_LINES = 100;

/** The columns that the service adds: the line and the reason. */
const ADDED = 2;

interface RejectedLinesProps {
  readonly of: LeadImport;
  /** Whether nothing was imported, so that nothing is to be mended. */
  readonly isReadOnly?: boolean;
}

/** The lines that were not imported, each with its reasons. They are mended here and sent again. */
export function RejectedLines({ of, isReadOnly = false }: RejectedLinesProps) {
  const { id, format } = of;
  const mayWrite = useMay()('leads:write');
  const result = useQuery(`rejected lines of ${id}`, (client, signal) =>
    client.leads.imports.rejected(id, { escape: 'none' }, { signal }),
  );
  return (
    <section>
      <h2>{words.rejected}</h2>
      <Loaded of={result}>
        {(text) => (
          <>
            <button
              type="button"
              onClick={() => {
                download(new Blob([text]), `rejected.${format}`);
              }}
            >
              {words.download}
            </button>
            {format === 'csv' && (
              <Lines
                of={of}
                table={parseCsv(text, MAX_LINES)}
                isReadOnly={isReadOnly || !mayWrite}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

interface LinesProps extends Required<RejectedLinesProps> {
  readonly table: CsvTable;
}

function Lines({ of, table, isReadOnly }: LinesProps) {
  const { client } = useSignedIn();
  const map = useRoute().query.get('map') ?? undefined;
  const draft = `imports/${of.id}`;
  const [typed, setTyped] = useState(draftOf(draft)?.typed ?? new Map<string, string>());
  const [failure, setFailure] = useState<LatitudeError>();
  const [isBusy, setBusy] = useState(false);
  const sent = useRef({ content: '', key: '' });
  const header = table.header.slice(ADDED);
  const cellOf = (row: readonly string[], column: number) =>
    (typed.get(`${row[0]} ${column}`) ?? row[ADDED + column] ?? '') as string;
  const mended = table.rows.filter((row) =>
    header.some((_, column) => cellOf(row, column) !== (row[ADDED + column] ?? '')),
  );
  const change = (name: string, value: string) => {
    const next = new Map(typed).set(name, value);
    keepDraft(draft, { base: undefined, typed: next });
    setTyped(next);
  };
  const send = async () => {
    const rows = mended.map((row) => header.map((_, column) => cellOf(row, column)));
    const content = toCsv([header, ...rows], table.delimiter);
    if (content !== sent.current.content) {
      sent.current = { content, key: crypto.getRandomValues(new Uint32Array(4)).join('-') };
    }
    const { mode, match_on } = of;
    const query = { mode, ...(match_on.length > 0 && { match_on }), ...(map && { map }) };
    setBusy(true);
    setFailure(undefined);
    try {
      const options = { query, idempotencyKey: sent.current.key };
      const { id } = await client.leads.imports.create(content, options);
      keepDraft(draft, { base: undefined, typed: new Map() });
      navigate(`imports/${id}`, { map });
    } catch (error) {
      setFailure(error as LatitudeError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {of.rejected > table.rows.length && <p class="hint">{words.onlyFirst(table.rows.length)}</p>}
      {!isReadOnly && <p>{words.mend}</p>}
      {table.rows.map((row) => (
        <fieldset key={row[0]}>
          <legend>{words.line(row[0] ?? '')}</legend>
          <p class="error">
            <Text value={row[1] ?? ''} />
          </p>
          <div class="columns">
            {header.map((column, index) =>
              isReadOnly ? (
                <div key={index}>
                  <bdi class="hint">{column}</bdi>
                  <Value value={row[ADDED + index]} />
                </div>
              ) : (
                <Field
                  key={index}
                  spec={{
                    name: column,
                    label: column || words.unnamed,
                    kind: (row[ADDED + index] ?? '').includes('\n') ? 'long' : 'text',
                  }}
                  value={cellOf(row, index)}
                  onChange={(value) => {
                    change(`${row[0]} ${index}`, value as string);
                  }}
                />
              ),
            )}
          </div>
        </fieldset>
      ))}
      {failure && <Failure error={failure} title={texts.form.failed} />}
      {!isReadOnly && (
        <button
          type="button"
          class="primary"
          disabled={isBusy || mended.length === 0}
          onClick={() => void send()}
        >
          {words.sendAgain(mended.length)}
        </button>
      )}
    </>
  );
}
