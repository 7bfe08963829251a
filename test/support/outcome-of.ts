import http from 'node:http';

interface Request {
  readonly key: string;
  /** `false`: the request has a connection of its own. */
  readonly agent: http.Agent | false;
  /** The body of a POST; without it the request is a GET. */
  readonly body?: object;
}

/** Returns the status of the answer, or the reason why there is none. */
export function outcomeOf(url: string, { key, agent, body }: Request): Promise<string> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const sending = http.request(url, { method: body ? 'POST' : 'GET', agent, headers });
    sending.end(body && JSON.stringify(body));
    sending.once('response', (response) => {
      response.resume().once('close', () => {
        resolve(response.complete ? String(response.statusCode) : 'broken off');
      });
    });
    sending.once('error', () => {
      resolve(sending.reusedSocket ? 'kept connection lost' : 'refused');
    });
  });
}
