// Traces: reads and writes `traceparent`, and makes the spans. Names and attributes follow the semantic conventions of
// OpenTelemetry, without paths, ids, values, queries and addresses of clients. Without an SDK, no span is made.
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

export type { Span } from '@opentelemetry/api';

/** A valid `traceparent`. Of a version after 00, more parts can follow. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The headers of a request or the like, which can name a trace by `traceparent` and `tracestate`. */
type TraceHeaders = Readonly<Record<string, unknown>>;

/** Makes the spans. Undefined while no SDK is registered. */
let tracer: Tracer | undefined;

/** Makes spans from now on. An SDK is registered. */
export function makeSpans(version: string): void {
  tracer = trace.getTracer('latitude', version);
}

/** Whether another program of this process, such as one of `node --import`, has registered an SDK. */
export function hasRegisteredSdk(): boolean {
  return isSpanContextValid(trace.getTracer('latitude').startSpan('probe').spanContext());
}

/** Reads the header `traceparent`. @returns undefined if there is none, or it is not valid */
export function readTraceparent({ traceparent }: TraceHeaders): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  return `00-${traceId}-${spanId}-${flags}`;
}

/** What lines of the log tell of a trace. */
export function traceOfLog(traceparent: string | null | undefined): object {
  if (typeof traceparent !== 'string') return {};
  const [, trace_id, span_id] = traceparent.split('-');
  return { trace_id, span_id };
}

/** The header `traceparent` for what a span causes. @param received that of the caller, if no span is made */
export function traceparentOf(
  span: Span | undefined,
  received?: string | null,
): string | undefined {
  if (!span) return received ?? undefined;
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** A span to make. */
interface NewSpan extends SpanOptions {
  readonly name: string;
  readonly attributes: Attributes;
  /**
   * The trace that it belongs to, null for a new one. Undefined for a part of the span in which it is made; without one, no
   * span is made.
   */
  readonly parent?: TraceHeaders | null;
}

/**
 * Runs work in a span. An error that it throws is recorded by its code, and never with its message.
 * @param describe called only if spans are made
 * @param work receives the span, undefined if none is made
 */
export function inSpan<T>(
  describe: () => NewSpan,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (!tracer) return work(undefined);
  const { parent, ...options } = describe();
  const active = trace.getActiveSpan();
  if (parent === undefined && !active) return work(undefined);
  // What another trace has caused names the span of this process that carries it out.
  const links = parent !== undefined && active ? [{ context: active.spanContext() }] : [];
  const span = startSpan(
    tracer,
    { ...options, links: [...links, ...(options.links ?? [])] },
    parent,
  );
  return inContextOf(span, async () => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Runs work whose spans are parts of a span. */
export function inContextOf<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** Runs work of a trace, without a span of its own. @param traceparent undefined: it belongs to no trace */
export function inTrace<T>(traceparent: string | null | undefined, work: () => T): T {
  return tracer ? context.with(contextOf({ traceparent }), work) : work();
}

/** The span that the current work is a part of. */
export function activeSpan(): Span | undefined {
  return tracer && trace.getActiveSpan();
}

/** Records that the work of a span has failed. */
export function failSpan(span: Span | undefined, code: string): void {
  span?.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });
}

/** The span of a request of HTTP, which ends with `endRequest`. @param startTime in milliseconds of `performance.now()` */
export function startRequest(
  method: string,
  isSecure: boolean,
  headers: TraceHeaders,
  startTime: number,
): Span | undefined {
  if (!tracer) return undefined;
  const attributes = {
    'http.request.method': METHODS.has(method) ? method : '_OTHER',
    'url.scheme': isSecure ? 'https' : 'http',
  };
  return startSpan(
    tracer,
    { name: nameOfRequest(method), kind: SpanKind.SERVER, attributes, startTime },
    readTraceparent(headers) === undefined ? null : headers,
  );
}

/** @param route the template of the path, null if no route has it */
export function endRequest(
  span: Span,
  {
    method,
    route,
    status,
    errorCode,
  }: {
    readonly method: string;
    readonly route: string | null;
    readonly status: number | null;
    readonly errorCode: string | undefined;
  },
): void {
  span.updateName(nameOfRequest(method, route));
  if (route !== null) span.setAttribute('http.route', route);
  if (status !== null) span.setAttribute('http.response.status_code', status);
  if (status === null) failSpan(span, 'aborted');
  else if (status >= 500) failSpan(span, errorCode ?? String(status));
  span.end(performance.now());
}

/** The call of a statement, with its waits and repetitions. */
export const statementSpan = (text: string) => () => {
  const { operation, table } = summaryOf(text);
  const summary = [operation, table].join(' ').trim();
  return {
    name: summary,
    kind: SpanKind.CLIENT,
    attributes: {
      ...DATABASE,
      'db.operation.name': operation,
      ...(table !== undefined && { 'db.collection.name': table }),
      'db.query.summary': summary,
    },
  };
};

/** A transaction, with its repetitions. */
export const transactionSpan = () => ({
  name: 'TRANSACTION',
  kind: SpanKind.INTERNAL,
  attributes: { ...DATABASE, 'db.operation.name': 'TRANSACTION' },
});

/** One round trip with the statements of several calls. It is part of the first call, and linked to all of them. */
export const batchSpan = (callers: readonly Span[], size: number) => () => {
  const contexts = callers.map((caller) => caller.spanContext());
  return {
    name: 'BATCH',
    kind: SpanKind.INTERNAL,
    attributes: {
      ...DATABASE,
      'db.operation.name': 'BATCH',
      ...(size > 1 && { 'db.operation.batch.size': size }),
    },
    links: contexts.map((each) => ({ context: each })),
  };
};

/** A run of a job or of an event handler. @param traceparent that of what has caused it */
export const processSpan = (name: string, traceparent: string | null | undefined) => () => ({
  name: `process ${name}`,
  kind: SpanKind.CONSUMER,
  attributes: {
    'messaging.system': 'latitude',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': name,
  },
  parent: typeof traceparent === 'string' ? { traceparent } : null,
});

/** An attempt to deliver an event to a webhook. @param traceparent that of the change */
export const deliverySpan = (url: string, traceparent: string | null | undefined) => () => {
  const { protocol, hostname, port } = new URL(url);
  const scheme = protocol.slice(0, -1);
  return {
    name: 'POST',
    kind: SpanKind.CLIENT,
    attributes: {
      'http.request.method': 'POST',
      'url.scheme': scheme,
      'server.address': hostname,
      'server.port': Number(port) || (scheme === 'https' ? 443 : 80),
    },
    parent: typeof traceparent === 'string' ? { traceparent } : null,
  };
};

/** A call of a tool of /mcp. @param meta of the call, where hosts name the trace of an agent */
export const toolSpan = (tool: string, meta: TraceHeaders | undefined) => () => ({
  name: `tools/call ${tool}`,
  kind: SpanKind.SERVER,
  attributes: {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
  },
  parent: meta && readTraceparent(meta) !== undefined ? meta : undefined,
});

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const DATABASE = { 'db.system.name': 'postgresql' };

function nameOfRequest(method: string, route?: string | null): string {
  const known = METHODS.has(method) ? method : 'HTTP';
  return route === null || route === undefined ? known : `${known} ${route}`;
}

const OPERATIONS: Readonly<Record<string, string>> = {
  'insert into': 'INSERT',
  update: 'UPDATE',
  'delete from': 'DELETE',
};

const STRINGS = /'[^']*'/g;
/** The statement of records: the CTE `record` changes them, others write events or stored responses. */
const CHANGE_OF_RECORD = /\brecord as \(\s*(insert into|update) +(\w+)/;
const CHANGE = /(?<!for |key |do )\b(insert into|update|delete from) +(\w+)/;
const READ = /(?<!distinct |epoch )\bfrom +(\w+)\b(?! *[(])/;

/** What a statement does to which table. Its text has no values of callers. */
function summaryOf(text: string): { readonly operation: string; readonly table?: string } {
  const sql = text.replace(STRINGS, '');
  const [, change, changed] = CHANGE_OF_RECORD.exec(sql) ?? CHANGE.exec(sql) ?? [];
  if (change !== undefined) return { operation: OPERATIONS[change] ?? '', table: changed };
  return { operation: 'SELECT', table: READ.exec(sql)?.[1] };
}

function startSpan(
  by: Tracer,
  { name, ...options }: Omit<NewSpan, 'parent'>,
  parent: TraceHeaders | null | undefined,
): Span {
  const of = parent === undefined ? context.active() : parent ? contextOf(parent) : ROOT_CONTEXT;
  return by.startSpan(name, options, of);
}

/** The context of what another process has begun. */
function contextOf(headers: TraceHeaders): Context {
  const traceparent = readTraceparent(headers);
  if (traceparent === undefined) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  const { tracestate } = headers;
  const remote: SpanContext = {
    traceId,
    spanId,
    traceFlags: parseInt(flags, 16),
    isRemote: true,
    ...(typeof tracestate === 'string' && { traceState: createTraceState(tracestate) }),
  };
  return trace.setSpanContext(ROOT_CONTEXT, remote);
}

/** The code of an error, which has no values of callers, or its class. */
function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  const known = [code, name].find((each) => typeof each === 'string' && CODE.test(each));
  return (known as string | undefined) ?? '_OTHER';
}

const CODE = /^\w{1,64}$/;
