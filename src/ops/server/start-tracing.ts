import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import type { NodeTracerConfig } from '@opentelemetry/sdk-trace-node';
import { logger } from '../../platform/config/logger.js';
import type { TracingSettings } from '../../platform/config/tracing-settings.js';
import { VERSION } from '../../platform/config/version.js';
import { hasRegisteredSdk, makeSpans } from '../../platform/tracing.js';

/** How long a stop waits until the last spans are sent. */
const FLUSH_MS = 2_000;

type Resource = NonNullable<NodeTracerConfig['resource']>;

/**
 * Loads the SDK of OpenTelemetry if the settings say where traces go. If another program of this process has registered an
 * SDK, such as one of `node --import`, the spans go there.
 * @returns sends the last spans, within two seconds
 */
export async function startTracing(
  settings: TracingSettings | undefined,
): Promise<() => Promise<void>> {
  if (hasRegisteredSdk()) {
    makeSpans(VERSION);
    return () => Promise.resolve();
  }
  if (!settings) return () => Promise.resolve();
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const exporter = reportingFailures(await createExporter(settings));
  const provider = new NodeTracerProvider({
    resource: resourceOf(settings),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  provider.register();
  makeSpans(VERSION);
  return async () => {
    // A collector that is down would delay the stop in vain.
    if (exporter.isFailing) return;
    const flushed = provider.shutdown().catch(() => undefined);
    await Promise.race([flushed, after(FLUSH_MS, undefined, { ref: false })]);
  };
}

type Exporter = Awaited<ReturnType<typeof createExporter>>;

async function createExporter({ exporter, protocol, headers }: TracingSettings) {
  if (exporter === 'console') {
    const { ConsoleSpanExporter } = await import('@opentelemetry/sdk-trace-node');
    return new ConsoleSpanExporter();
  }
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter({ headers });
}

/** An exporter that logs the first failure of each outage of the collector. */
function reportingFailures(exporter: Exporter) {
  const reporting = {
    isFailing: false,
    export: (...[spans, done]: Parameters<Exporter['export']>) => {
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error && !reporting.isFailing) logger.warn({ err: error }, FAILURE);
        reporting.isFailing = error !== undefined;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  return reporting;
}

const FAILURE =
  'spans could not be sent to the collector: those of an outage are dropped, and nothing else is affected';

/** What the spans say about this process. */
function resourceOf({ resource }: TracingSettings): Resource {
  const attributes = {
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.language': 'nodejs',
    'service.version': VERSION,
    'service.instance.id': randomUUID(),
    ...resource,
  };
  const own: Resource = {
    attributes,
    getRawAttributes: () => Object.entries(attributes),
    merge: () => own,
  };
  return own;
}
