import type { RecordEvent } from 'latitude/client';
import { texts, wordFor } from '../texts.js';
import { Link } from './link.js';

/** The views of kinds of records. Other kinds have none. */
const VIEWS = new Map([
  ['lead', 'leads'],
  ['appointment', 'appointments'],
  ['task', 'tasks'],
  ['resource', 'resources'],
  ['custom_field', 'fields'],
]);

/** The address of the view of the record of an event, if the console has one. */
export function viewOfRecord(type: string, id: string): string | undefined {
  const view = VIEWS.get(type.split('.', 1)[0] ?? '');
  return view && `${view}/${encodeURIComponent(id)}`;
}

const words = texts.changes;

interface ChangeProps {
  readonly event: RecordEvent;
  /** Whether the record is named. A page about one record need not name it. */
  readonly withRecord?: boolean;
}

/** An event in plain words, such as: key n8n changed phone of lead Ada Lovelace. */
export function Change({ event, withRecord = true }: ChangeProps) {
  const { type, changed, remind_before_minutes: minutes = 0 } = event;
  const verb = changed.join() === 'deleted_at' ? 'restored' : (type.split('.')[1] ?? '');
  const record = withRecord && <RecordLink type={type} record={event.record} />;
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
function RecordLink({ type, record }: Pick<RecordEvent, 'type' | 'record'>) {
  const view = viewOfRecord(type, record.id);
  const [kind = ''] = type.split('.');
  const name = <bdi>{nameOf(record)}</bdi>;
  return (
    <>
      {wordOf(words.kinds, kind)} {view === undefined ? name : <Link to={view}>{name}</Link>}
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

function actorOf({ actor }: RecordEvent) {
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
