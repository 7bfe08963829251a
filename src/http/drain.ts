import type { Server, ServerResponse } from 'node:http';

/** Longer than any request may take. */
const DEADLINE_MS = 15_000;

const SWEEP_EVERY_MS = 20;

/**
 * How a server goes. It listens on while it finishes what it had when the drain began, so that
 * whoever asks learns of it; then it stops listening and finishes what came meanwhile.
 */
export class Drain {
  private readonly underWay = new Set<ServerResponse>();
  private begun = false;

  constructor(private readonly server: Server) {
    server.prependListener('request', (_request, response: ServerResponse) => {
      // Keep-alive clients learn from their last answer that the server is going.
      if (this.begun) response.setHeader('Connection', 'close');
      this.underWay.add(response);
      response.once('close', () => this.underWay.delete(response));
    });
  }

  get hasBegun(): boolean {
    return this.begun;
  }

  begin(): void {
    this.begun = true;
  }

  /** Ends the server; what is not finished by the deadline is cut off. */
  async finish(): Promise<void> {
    this.begin();
    const end = performance.now() + DEADLINE_MS;
    const sweep = setInterval(() => {
      if (performance.now() > end) this.server.closeAllConnections();
      // Connections that fall idle after the server stopped listening are not closed by Node.
      else if (!this.server.listening) this.server.closeIdleConnections();
    }, SWEEP_EVERY_MS);
    const ends = Array.from(this.underWay, (response) => {
      return new Promise((resolve) => response.once('close', resolve));
    });
    await Promise.all(ends);
    await new Promise((resolve) => this.server.close(resolve));
    clearInterval(sweep);
  }
}
