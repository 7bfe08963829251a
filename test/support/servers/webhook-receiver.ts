import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { createHttpServer } from './http-server.js';

/** A request that a receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What a receiver answers. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** A receiver of webhooks on this machine. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Decides the answer of each request. */
  answer: (request: Received) => ReceiverAnswer | Promise<ReceiverAnswer> = () => ({ status: 200 });

  private constructor(private readonly server: http.Server) {
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      this.handle(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createHttpServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new WebhookReceiver(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** A new URL of this receiver. */
  url(host = '127.0.0.1'): string {
    return `http://${host}:${this.port}/${randomUUID()}`;
  }

  /** The requests to a URL. */
  at(url: string): Received[] {
    return this.received.filter(({ path }) => path === new URL(url).pathname);
  }

  /** The ids of the events that a URL received, in the order of the requests. */
  idsAt(url: string): string[] {
    return this.at(url).map(({ headers }) => headers['webhook-id']!);
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
    const body = Buffer.concat(chunks).toString();
    const headers = request.headers as Record<string, string>;
    const received = { path: request.url ?? '', headers, body };
    this.received.push(received);
    const answer = await this.answer(received);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }
}

/** Verifies the signature of a request, as receivers do, and returns the event. */
export function verified<T = Record<string, unknown>>(
  secret: string,
  { body, headers }: Received,
): T {
  return new Webhook(secret).verify(body, headers) as T;
}
