import { once } from 'node:events';
import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { OutgoingRequests } from '../../../src/platform/outgoing/outgoing-requests.js';
import { createHttpServer } from '../servers/http-server.js';

/** The origin of metadata documents. No real host has this name. */
export const DOCUMENT_ORIGIN = 'https://app.example';

/**
 * Serves metadata documents of clients on this machine. Latitude connects to public addresses only, so that requests for
 * documents of `DOCUMENT_ORIGIN` are sent here without its check of the address.
 */
export class DocumentServer {
  private constructor(
    private readonly server: http.Server,
    private readonly spy: jest.SpyInstance,
    private readonly state: { answer: http.RequestListener; requests: number },
  ) {}

  static async start(): Promise<DocumentServer> {
    const state = { answer: notFound, requests: 0 };
    const server = createHttpServer((request, response) => {
      state.requests++;
      state.answer(request, response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const requests = OutgoingRequests.prototype;
    const send = requests.send.bind(requests);
    const spy = jest.spyOn(requests, 'send').mockImplementation((url, options) => {
      if (!url.startsWith(DOCUMENT_ORIGIN)) return send(url, options);
      const target = url.replace(DOCUMENT_ORIGIN, `http://127.0.0.1:${port}`);
      return send(target, { ...options, allowPrivate: true });
    });
    return new DocumentServer(server, spy, state);
  }

  /** The number of requests for documents. */
  get requests(): number {
    return this.state.requests;
  }

  /** Serves a document, whose `client_id` is its URL unless it has another. Returns the URL. */
  serve(path: string, document: object, headers: Record<string, string> = {}): string {
    const url = DOCUMENT_ORIGIN + path;
    this.answer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', ...headers });
      response.end(JSON.stringify({ client_id: url, ...document }));
    });
    return url;
  }

  answer(listener: http.RequestListener): void {
    this.state.answer = listener;
  }

  stop(): void {
    this.spy.mockRestore();
    this.server.closeAllConnections();
    this.server.close();
  }
}

function notFound(_: http.IncomingMessage, response: http.ServerResponse): void {
  response.writeHead(404).end();
}
