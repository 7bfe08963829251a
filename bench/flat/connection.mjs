import http from 'node:http';

/** One connection that is kept, over which requests go one after the other. */
export class Connection {
  #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  #url;

  constructor(url) {
    this.#url = url;
  }

  /** @returns the answer, and the milliseconds until all of it was there */
  send({ path, body, ...options }) {
    return new Promise((resolve, reject) => {
      const started = performance.now();
      const request = http.request(this.#url + path, { ...options, agent: this.#agent });
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks = [];
        response.on('error', reject);
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          const milliseconds = performance.now() - started;
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode, text, milliseconds });
        });
      });
      request.end(body);
    });
  }

  close() {
    this.#agent.destroy();
  }
}
