import net from 'node:net';
import { URL } from 'node:url';

const END_OF_HEADERS = '\r\n\r\n';

/**
 * A minimal HTTP client with one kept-alive connection for sequential requests. It takes little processor
 * time from the server on the same machine.
 */
export class Connection {
  #host;
  #socket;
  #received = Buffer.alloc(0);
  #waiting;

  constructor(url) {
    const { host, hostname, port } = new URL(url);
    this.#host = host;
    this.#socket = net.connect(port, hostname).setNoDelay(true);
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('end', () => this.#waiting?.reject(new Error('the connection was ended')));
    this.#socket.on('data', (chunk) => this.#receive(chunk));
  }

  /** @returns the response and the milliseconds until it was complete */
  send({ path, method = 'GET', headers = {}, body = '' }) {
    const all = { Host: this.#host, ...headers };
    if (body) all['Content-Length'] = Buffer.byteLength(body);
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, started: performance.now() };
      const head = [`${method} ${path} HTTP/1.1`, ...lines].join('\r\n');
      this.#socket.write(head + END_OF_HEADERS + body);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #receive(chunk) {
    this.#received = this.#received.length ? Buffer.concat([this.#received, chunk]) : chunk;
    const end = this.#received.indexOf(END_OF_HEADERS);
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const begin = end + END_OF_HEADERS.length;
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (this.#received.length < begin + length) return;
    const text = this.#received.toString('utf8', begin, begin + length);
    this.#received = this.#received.subarray(begin + length);
    const { resolve, started } = this.#waiting;
    resolve({ status: Number(head.slice(9, 12)), text, milliseconds: performance.now() - started });
  }
}
