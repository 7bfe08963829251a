import type { LatitudeError, LeadImport } from 'latitude/client';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Failure } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Field } from '../../forms/field.js';
import { navigate } from '../../state/router.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { type ChosenFile, MAX_BYTES, readChosenFile } from './chosen-file.js';
import { ColumnChoices, type ColumnMap, mapParameter } from './column-map.js';
import { FileChooser } from './file-chooser.js';
import { ImportState, useImport } from './import-state.js';
import { RejectedLines } from './rejected-lines.js';

const words = texts.imports;

const MODES = ['create_or_update', 'create_only', 'update_only'] as const;
const MODE = {
  name: 'mode',
  label: words.mode,
  kind: 'choice',
  isRequired: true,
  options: MODES.map((value) => ({ value, label: words.modes[value] })),
} as const;

/** Imports a CSV file: first rows, columns, a check that writes nothing, and the import. */
export function NewImportPage() {
  const [file, setFile] = useState<ChosenFile>();
  const [problem, setProblem] = useState<string>();
  const choose = async (chosen: File) => {
    setFile(undefined);
    const isTooLarge = chosen.size > MAX_BYTES;
    setProblem(isTooLarge ? words.tooLarge : undefined);
    if (isTooLarge) return;
    const read = await readChosenFile(chosen);
    if (read.table.header.length === 0) setProblem(words.noRows);
    else setFile(read);
  };
  return (
    <Page title={words.create}>
      <FileChooser onChosen={(chosen) => void choose(chosen)} />
      {problem && (
        <p class="error" role="alert">
          {problem}
        </p>
      )}
      {file && <ImportForm key={file.name} file={file} />}
    </Page>
  );
}

function ImportForm({ file }: { file: ChosenFile }) {
  const { client } = useSignedIn();
  const [map, setMap] = useState<ColumnMap>(new Map());
  const [mode, setMode] = useState<(typeof MODES)[number]>(MODES[0]);
  const [failure, setFailure] = useState<LatitudeError>();
  const [checked, setChecked] = useState<LeadImport>();
  const [isBusy, setBusy] = useState(false);
  const sent = useRef({ request: '', key: '' });

  const send = async (isDryRun: boolean) => {
    const parameter = mapParameter(map);
    const query = { mode, dry_run: isDryRun, ...(parameter && { map: parameter }) };
    const request = JSON.stringify(query);
    if (request !== sent.current.request) {
      sent.current = { request, key: crypto.getRandomValues(new Uint32Array(4)).join('-') };
    }
    setBusy(true);
    setFailure(undefined);
    setChecked(undefined);
    try {
      const options = { query, idempotencyKey: sent.current.key };
      const started = await client.leads.imports.create(file.content, options);
      if (isDryRun) setChecked(started);
      else navigate(`imports/${started.id}`, { map: parameter });
    } catch (error) {
      setFailure(error as LatitudeError);
    } finally {
      setBusy(false);
    }
  };
  const errors = columnErrors(failure);
  return (
    <section aria-busy={isBusy}>
      <h2>{words.columns}</h2>
      <p class="hint">{words.columnsHint}</p>
      <ColumnChoices table={file.table} map={map} errors={errors} onChange={setMap} />
      <Field
        spec={MODE}
        value={mode}
        onChange={(value) => {
          setMode(value as typeof mode);
        }}
      />
      {failure && (
        <Failure error={failure} title={words.notStarted}>
          {errors.size > 0 && <p>{words.chooseFields}</p>}
        </Failure>
      )}
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={() => void send(true)}>
          {words.dryRun}
        </button>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void send(false)}>
          {words.start}
        </button>
      </div>
      {checked && <Check id={checked.id} />}
    </section>
  );
}

/** What would become of the lines. */
function Check({ id }: { id: string }) {
  const result = useImport(id);
  const { data } = result;
  return (
    <section class="card">
      <h2>{words.checked}</h2>
      <ImportState of={result} />
      {data && data.ended_at !== null && data.rejected > 0 && (
        <RejectedLines of={data} isReadOnly />
      )}
    </section>
  );
}

/** Errors that name a column, such as `columns.Age`. */
function columnErrors(failure: LatitudeError | undefined): ReadonlyMap<string, ComponentChildren> {
  const details = failure?.details ?? [];
  const ofColumns = details.filter(({ field }) => field.startsWith('columns.'));
  return new Map(ofColumns.map(({ field, message }) => [field.slice('columns.'.length), message]));
}
