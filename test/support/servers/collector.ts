import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpServer } from './http-server.js';

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message?: string };
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A span that a collector received. */
export type CollectedSpan = Omit<OtlpSpan, 'attributes' | 'kind'> & {
  readonly kind: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
};

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];

/** A collector of OpenTelemetry on this machine, which reads spans as JSON. */
export class Collector {
  /** What the spans say, each once: all of them except ids and times. */
  readonly contents = new Set<string>();
  /** The bodies that are not JSON. */
  readonly binary: Buffer[] = [];
  readonly spans: CollectedSpan[] = [];
  readonly resources: Readonly<Record<string, string | number | undefined>>[] = [];
  readonly requests: Pick<http.IncomingMessage, 'url' | 'headers'>[] = [];

  private constructor(private readonly server: http.Server) {
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      this.handle(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<Collector> {
    const server = createHttpServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Collector(server);
  }

  /** The variables that send spans here, soon after their end. */
  get environment(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    };
  }

  /** The spans of a trace. */
  of(traceId: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
  }

  private async handle(
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    this.requests.push({ url: request.url, headers: request.headers });
    if (request.headers['content-type'] === 'application/json') this.read(body.toString());
    else this.binary.push(body);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  }

  private read(body: string): void {
    for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpBody).resourceSpans) {
      this.resources.push(valuesOf(resource.attributes));
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const attributes = valuesOf(span.attributes);
        this.spans.push({ ...span, kind: KINDS[span.kind] ?? '', attributes });
        const without = (key: string, value: unknown) =>
          IDS_AND_TIMES.includes(key) ? undefined : value;
        this.contents.add(JSON.stringify(span, without));
      }
    }
  }
}

const IDS_AND_TIMES = ['traceId', 'spanId', 'parentSpanId', 'startTimeUnixNano', 'endTimeUnixNano'];

function valuesOf(attributes: readonly OtlpAttribute[]) {
  const entries = attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]);
  return Object.fromEntries(entries) as Record<string, string | number | undefined>;
}
