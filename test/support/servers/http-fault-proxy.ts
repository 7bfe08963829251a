import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHttpServer } from './http-server.js';

/** Faults of a request. Those that end in `-after` occur after the server has responded. */
export const HTTP_FAULTS = [
  'answer-429',
  'answer-500',
  'answer-500-after',
  'reset',
  'reset-after',
  'stall',
  'stall-after',
  'cut-after',
  'cut-with-length-after',
] as const;

export type HttpFault = (typeof HTTP_FAULTS)[number];

interface Faults {
  /** Chooses the fault of a request; undefined for none. */
  choose(): HttpFault | undefined;
  /** Called for each request without a response. */
  onStall(request: IncomingMessage): void;
}

interface Forwarded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** An HTTP proxy that injects faults into chosen requests. */
export class HttpFaultProxy {
  /** Number of injected faults by kind. */
  readonly counts = new Map<HttpFault, number>();

  private constructor(
    private readonly server: Server,
    private readonly target: string,
    private readonly faults: Faults,
  ) {}

  static async to(target: string, faults: Faults): Promise<HttpFaultProxy> {
    const server = createHttpServer();
    const proxy = new HttpFaultProxy(server, target, faults);
    server.on('request', (request, response) => {
      proxy.handle(request, response).catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const fault = this.faults.choose();
    if (fault) this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    const answer =
      fault && !fault.endsWith('-after') ? undefined : await this.forward(request, body);
    if (fault) injectFault(fault, response, answer);
    else if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
    if (fault?.startsWith('stall')) this.faults.onStall(request);
  }

  private async forward({ method, url = '/', headers }: IncomingMessage, body: string) {
    const { host: _, connection: __, 'content-length': ___, ...kept } = headers;
    const answer = await fetch(this.target + url, {
      method,
      headers: kept as Record<string, string>,
      ...(body === '' ? {} : { body }),
    });
    const names = ['content-type', 'etag', 'location', 'x-request-id', 'idempotency-replayed'];
    const found = names.map((name) => [name, answer.headers.get(name)] as const);
    return {
      status: answer.status,
      headers: Object.fromEntries(found.filter((pair): pair is [string, string] => !!pair[1])),
      body: await answer.text(),
    };
  }
}

function injectFault(fault: HttpFault, response: ServerResponse, answer?: Forwarded): void {
  switch (fault) {
    case 'answer-429':
      response.writeHead(429, { 'Retry-After': '0' }).end('{}');
      return;
    case 'answer-500':
    case 'answer-500-after':
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end('upstream failed');
      return;
    case 'reset':
    case 'reset-after':
      response.socket?.resetAndDestroy();
      return;
    case 'stall':
    case 'stall-after':
      return;
    case 'cut-after':
    case 'cut-with-length-after': {
      const { status = 200, headers = {}, body = '' } = answer ?? {};
      const length = fault === 'cut-after' ? {} : { 'Content-Length': String(body.length) };
      response.writeHead(status, { ...headers, ...length });
      response.write(body.slice(0, body.length / 2), () => response.destroy());
    }
  }
}
