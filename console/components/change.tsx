import type { RecordEvent } from 'latitude/client';
import { texts, wordFor } from '../texts.js';
import { Link } from './link.js';

/** The views of kinds of records. Other kinds have none. */
const VIEWS: Readonly<Record<string, string>> = {
  lead: 'leads',
  appointment: 'appointments',
  task: 'tasks',
  resource: 'resources',
  custom_field: 'fields',
};

const words = texts.changes;

interface ChangeProps {
  readonly event: RecordEvent;
  /** Whether the record is named. A page about one record need not name it. */
  readonly withRecord?: boolean;
}

/** An event in plain words, such as: key n8n changed phone of lead Ada Lovelace. */
export function Change({ event, withRecord = true }: ChangeProps) {
  const { type, changed, remind_before_minutes: minutes = 0 } = event;
  const [kind = '', verb = ''] = type.split('.');
  const record = withRecord && <RecordLink kind={kind} record={event.record} />;
  if (verb === 'overdue')
    return (
      <span>
        {record} {words.overdue}
      </span>
    );
  if (verb === 'starting')
    return (
      <span>
        {record} {words.starting(minutes)}
      </span>
    );
  const isRestore = verb === 'updated' && changed.includes('deleted_at');
  const isUpdate = verb === 'updated' && changed.length > 0 && !isRestore;
  return (
    <span>
      {actorOf(event)} {wordOf(words.verbs, isRestore ? 'restored' : verb)}{' '}
      {isUpdate && <bdi>{words.list(changed)}</bdi>} {isUpdate && withRecord && words.of} {record}
    </span>
  );
}

/** The kind and name of a record, which is a link if the console has a view of it. */
function RecordLink({ kind, record }: { kind: string; record: RecordEvent['record'] }) {
  const view = VIEWS[kind];
  const name = <bdi>{nameOf(record)}</bdi>;
  return (
    <>
      {wordOf(words.kinds, kind)}{' '}
      {view === undefined ? (
        name
      ) : (
        <Link to={`${view}/${encodeURIComponent(record.id)}`}>{name}</Link>
      )}
    </>
  );
}

/** What people call a record. */
function nameOf(record: RecordEvent['record']): string {
  const person = [record.first_name, record.last_name].filter(Boolean).join(' ');
  const names = ['title', 'name', 'label', 'key', 'type'].map((field) => record[field]);
  const found = [person, ...names].find((text) => typeof text === 'string' && text.trim() !== '');
  return (found as string | undefined) ?? record.id;
}

/** The name is left out by servers that do not tell it. */
type Actor = RecordEvent['actor'] & { readonly key_name?: string | null };

function actorOf({ actor }: { actor: Actor }) {
  const { key_id: id, key_name: name, channel, client_id: application } = actor;
  if (id === null) return words.by.service;
  const key = <bdi>{name ?? id}</bdi>;
  if (application !== null)
    return (
      <>
        {words.by.application} <bdi>{hostOf(application)}</bdi>
      </>
    );
  if (channel === 'ai')
    return (
      <>
        {words.by.agent} {key}
      </>
    );
  return (
    <>
      {channel === 'import' ? words.by.import : words.by.key} {key}
    </>
  );
}

/** The host of the URL of an application, or its id. */
const hostOf = (application: string) =>
  URL.canParse(application) ? new URL(application).host || application : application;

/** Such as `lead created`. */
export function typeInWords(type: string): string {
  const [kind = '', verb = ''] = type.split('.');
  return `${wordOf(words.kinds, kind)} ${wordOf(words.verbs, verb)}`;
}

/** A word for a name, or the name of what an extension adds. */
const wordOf = (known: Readonly<Record<string, string>>, name: string) =>
  wordFor(known, name).replaceAll('_', ' ');
