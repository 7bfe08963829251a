import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Sms } from '../src/sms-provider.js';

/** An SMS provider that keeps what it received. */
export class FakeProvider {
  /** The status of its responses. */
  status = 202;
  private readonly received: Sms[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeProvider> {
    const server = createServer();
    const provider = new FakeProvider(server);
    server.on('request', (request, response) => {
      void provider.receive(request).then(() => response.writeHead(provider.status).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/messages`;
  }

  /** What was sent to a phone number. */
  sentTo(phone: string | null): Sms[] {
    return this.received.filter(({ to }) => to === phone);
  }

  private async receive(request: IncomingMessage): Promise<void> {
    if (request.method === 'POST') this.received.push((await json(request)) as Sms);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
