import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { textOf } from '../support/mcp/agent.js';
import { type Attempt, callsOf } from './attempt.js';
import type { Entry, Row } from './assistant.js';
import { NOW } from './tasks.js';

const MAX_LINE_LENGTH = 200;

/** An estimate of the tokens of a string: one for four characters. */
function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}

/** The transcript for docs/agent-evaluation.md. */
export function transcriptOf(attempts: readonly Attempt[]): string {
  const [{ tools }] = attempts as [Attempt];
  const list = `The list of its ${tools.length} tools, read once, is about ${tokensIn(JSON.stringify(tools))} tokens.\n`;
  const head = ['Task', 'Calls', 'Budget', 'Tokens'];
  const rows = attempts.map((attempt, index) => {
    const { title, calls } = attempt.task;
    return [`${index + 1}. ${title}`, callsOf(attempt).length, calls, tokensOf(attempt)].map(
      String,
    );
  });
  return [list, table(head, rows), ...attempts.map(sectionOf)].join('\n');
}

function sectionOf({ task, log }: Attempt, index: number): string {
  const steps = normalized(log.flatMap(linesOf).join('\n'));
  const lines = steps.split('\n').map(cut).join('\n');
  return `### ${index + 1}. ${task.title}\n\n> ${task.utterance}\n\n\`\`\`text\n${lines}\n\`\`\`\n`;
}

/** The tokens of the calls of a task and of their results. */
function tokensOf(attempt: Attempt): number {
  const texts = callsOf(attempt).flatMap(({ call, args, result }) => {
    return [call, JSON.stringify(args), textOf(result)];
  });
  return tokensIn(texts.join(''));
}

function linesOf(entry: Entry): string[] {
  if ('says' in entry) return [`says: ${entry.says}`];
  if ('asks' in entry) return [`asks: ${entry.asks}`, `  → ${inWords(entry.answer)}`];
  return [`${entry.call} ${JSON.stringify(entry.args)}`, ...linesOfResult(entry.result)];
}

function inWords(answer: unknown): string {
  return typeof answer === 'boolean' ? (answer ? 'yes' : 'no') : String(answer);
}

function linesOfResult(result: CallToolResult): string[] {
  const { isError = false, structuredContent = {} } = result;
  if (isError) return [`  → ${textOf(result)}`];
  const { data, meta } = structuredContent as { data?: Row[]; meta?: { total: number } };
  if (!data || !meta) return [`  → ${short(structuredContent)}`];
  return [`  → ${meta.total} found`, ...data.map((record) => `    ${short(record)}`)];
}

const OMITTED = ['organization_id', 'created_at', 'updated_at', 'custom_fields', 'tags'];

/** A record without empty fields, timestamps and the organization. */
function short(record: object): string {
  return JSON.stringify(record, (name, value: unknown) =>
    OMITTED.includes(name) || value === null ? undefined : value,
  );
}

/** Replaces ids and days, which differ between runs, by sequential numbers. */
function normalized(text: string): string {
  const number = counter();
  const day = counter();
  return text
    .replaceAll(NOW.toISOString(), 'now')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => `#${number(id)}`)
    .replace(TIMESTAMP, (_, date: string, time: string) => `day ${day(date)} ${time}`);
}

const TIMESTAMP = /(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::00\.000)?(?:Z|\+00:00|(?="))/g;

/** Returns a function that numbers distinct values sequentially. */
function counter(): (value: string) => number {
  const seen: string[] = [];
  return (value) => {
    if (!seen.includes(value)) seen.push(value);
    return seen.indexOf(value) + 1;
  };
}

function cut(line: string): string {
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line;
}

/** A Markdown table in the format of Prettier: strings are left-aligned, numbers right-aligned. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length)));
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |\n`;
  const padded = (row: readonly string[]) =>
    line(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))));
  const rule = line(
    widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)),
  );
  return [padded(head), rule, ...rows.map(padded)].join('');
}
