import type { LatitudeError } from 'latitude/client';
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure } from '../components/loaded.js';
import { announce } from '../state/announce.js';
import { draftOf, keepDraft, type Raw } from '../state/drafts.js';
import { texts } from '../texts.js';
import { useConflicts } from './conflict-dialog.js';
import { Field } from './field.js';
import { conversionOf, type FieldSpec, InvalidInput } from './kinds.js';
import { saveChanges } from './save.js';
import { bodyOf, isSame, valueOf } from './values.js';

type Body = Record<string, unknown>;

export interface RecordFormProps<R extends object> {
  /** Of the draft, such as `leads/ID`. */
  readonly name: string;
  readonly fields: readonly FieldSpec[];
  /** Values that a new record begins with. */
  readonly initial?: object;
  /** The record to change, as `get`, `create` or `update` of the client returned it; without it, one is created. */
  readonly record?: R | undefined;
  readonly create?: (body: Body, idempotencyKey: string) => Promise<R>;
  readonly update?: (body: Body, ifMatch: string) => Promise<R>;
  /** Reads the record again, if somebody else has changed it. */
  readonly read?: () => Promise<R>;
  readonly onSaved: (record: R) => void;
  readonly onCancel?: () => void;
  /** What an error adds about the record with this id, such as a link to a duplicate. */
  readonly existing?: (id: string) => ComponentChildren;
  /**
   * What a failure adds, such as links to the records in the way.
   * @param fill enters values of fields
   */
  readonly explain?: (error: LatitudeError, fill: (values: object) => void) => ComponentChildren;
  readonly submit?: string;
  /** Checks what was entered, and saves nothing. */
  readonly check?: (body: Body) => Promise<unknown>;
}

/** Creates or changes a record. Errors stand at their fields, and nothing that was typed is lost by a failure. */
export function RecordForm<R extends object>(props: RecordFormProps<R>) {
  const { name, fields, record, initial, onSaved, onCancel } = props;
  const [draft, setDraft] = useState(draftOf(name));
  const [errors, setErrors] = useState<ReadonlyMap<string, ComponentChildren>>(new Map());
  const [failure, setFailure] = useState<LatitudeError>();
  const [isBusy, setBusy] = useState(false);
  const [isChecked, setChecked] = useState(false);
  const { choose, dialog } = useConflicts(fields);
  const form = useRef<HTMLFormElement>(null);
  const creation = useRef({ body: '', key: '' });
  const typed = draft?.typed ?? new Map<string, Raw>();
  const base = (draft ? draft.base : record) as R | undefined;
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [errors]);
  useFocus(form, record !== undefined);

  const change = (next: ReadonlyMap<string, Raw>) => {
    const changed = next.size === 0 ? undefined : { base, typed: next };
    keepDraft(name, changed ?? { base, typed: next });
    setDraft(changed);
    setChecked(false);
  };
  const fill = (values: object) => {
    const filled = fields.filter((spec) => Object.hasOwn(values, spec.name));
    const raws = filled.map((spec) => {
      return [spec.name, conversionOf(spec).toRaw(valueOf(values, spec.name))] as const;
    });
    change(new Map([...typed, ...raws]));
  };
  const rawOf = (spec: FieldSpec) =>
    typed.get(spec.name) ?? conversionOf(spec).toRaw(valueOf(base ?? initial, spec.name));

  const save = async (changes: ReadonlyMap<string, unknown>): Promise<R | undefined> => {
    if (base === undefined) {
      const body = bodyOf(changes, undefined);
      const text = JSON.stringify(body);
      if (text !== creation.current.body) creation.current = { body: text, key: randomKey() };
      return props.create?.(body, creation.current.key);
    }
    const { update, read } = props;
    if (!update || !read) throw new Error('A form that changes records needs `update` and `read`.');
    return saveChanges({ base, changes, update, read, choose });
  };

  /** @param run what is done with the changes */
  const attempt = async (run: (changes: ReadonlyMap<string, unknown>) => Promise<void>) => {
    const { changes, problems } = readChanges(fields, rawOf, base, initial);
    setFailure(undefined);
    setErrors(problems);
    if (problems.size > 0) return;
    setBusy(true);
    try {
      await run(changes);
    } catch (error) {
      setErrors(errorsOf(error as LatitudeError, fields, rawOf, props.existing));
      setFailure(error as LatitudeError);
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void attempt(async (changes) => {
      const saved = await save(changes);
      if (!saved) return;
      change(new Map());
      announce(texts.form.saved);
      onSaved(saved);
    });
  };
  const onCheck = () => {
    setChecked(false);
    void attempt(async (changes) => {
      await props.check?.(bodyOf(changes, base));
      setChecked(true);
    });
  };

  return (
    <form ref={form} noValidate onSubmit={onSubmit}>
      {failure && (
        <Failure error={failure} title={texts.form.failed}>
          {props.explain?.(failure, fill)}
        </Failure>
      )}
      {fields.map((spec) => (
        <Field
          key={spec.name}
          spec={spec}
          value={rawOf(spec)}
          error={errors.get(spec.name)}
          onChange={(raw) => {
            change(new Map([...typed, [spec.name, raw]]));
          }}
        />
      ))}
      {typed.size > 0 && (
        <p class="hint">
          {texts.form.draft}{' '}
          <button
            type="button"
            class="quiet"
            onClick={() => {
              change(new Map());
              setErrors(new Map());
            }}
          >
            {texts.form.discard}
          </button>
        </p>
      )}
      <p role="status">{isChecked && texts.form.checked}</p>
      <div class="actions">
        <button type="submit" class="primary" disabled={isBusy}>
          {props.submit ?? (record ? texts.form.save : texts.form.create)}
        </button>
        {props.check && (
          <button type="button" disabled={isBusy} onClick={onCheck}>
            {texts.form.check}
          </button>
        )}
        {onCancel && (
          <button
            type="button"
            onClick={() => {
              change(new Map());
              onCancel();
            }}
          >
            {texts.form.cancel}
          </button>
        )}
      </div>
      {dialog}
    </form>
  );
}

/** Gives the focus to the first field of a form that takes the place of values, and to the heading when it goes. */
function useFocus(form: RefObject<HTMLFormElement | null>, takesFocus: boolean): void {
  useEffect(() => {
    const element = form.current;
    if (takesFocus) element?.querySelector<HTMLElement>('input, select, textarea')?.focus();
    return () => {
      const { activeElement: active, body } = document;
      // A button that is disabled while it saves has lost the focus.
      if (active === body || element?.contains(active)) document.querySelector('h1')?.focus();
    };
  }, []);
}

/** The messages by field. That of `hours.monday[0].end` stands at the field `hours`. */
function errorsOf(
  { details }: LatitudeError,
  fields: readonly FieldSpec[],
  rawOf: (spec: FieldSpec) => Raw,
  existing: RecordFormProps<object>['existing'],
): ReadonlyMap<string, ComponentChildren> {
  const isWithin = (path: string, name: string) =>
    path.startsWith(name) && /^($|[.[])/.test(path.slice(name.length));
  const errors = new Map<string, ComponentChildren>();
  for (const { field, message, existing_id: id } of details) {
    const spec = fields.find(({ name }) => isWithin(field, name));
    const name = spec?.name ?? field;
    const part = spec && conversionOf(spec).partAt?.(field.slice(name.length), rawOf(spec));
    errors.set(
      name,
      <>
        {errors.get(name)}
        <span class="line">
          {name === field ? message : `${part ?? field} ${message}`} {id && existing?.(id)}
        </span>
      </>,
    );
  }
  return errors;
}

/** The values that differ from those of the record, and the fields whose text is not valid. */
function readChanges(
  fields: readonly FieldSpec[],
  rawOf: (spec: FieldSpec) => Raw,
  base: object | undefined,
  initial: object | undefined,
) {
  const changes = new Map<string, unknown>();
  const problems = new Map<string, ComponentChildren>();
  for (const spec of fields) {
    const { name } = spec;
    const { toRaw, toValue } = conversionOf(spec);
    try {
      const value = toValue(rawOf(spec));
      const stored = toRaw(valueOf(base ?? initial, name));
      const isChanged = !isSame(stored, rawOf(spec));
      if (isChanged || (base === undefined && valueOf(initial, name) !== undefined)) {
        changes.set(name, value);
      }
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      problems.set(name, error.message);
    }
  }
  return { changes, problems };
}

/** `crypto.randomUUID` is missing in pages without TLS. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].join('-');
}
