import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { ApiRequest } from './api-request.js';
import { LARGE_BYTES, readJsonBytes } from './request-reader.js';

function requestWith(body: Buffer): ApiRequest {
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  return Object.assign(Readable.from([body]), { method: 'POST', headers, state: {} }) as never;
}

/** The most bodies that are passed on in one turn of the event loop, if a turn has time for one only. */
async function mostInOneTurn(size: number): Promise<number> {
  await turn();
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 5));
  let passed = 0;
  const reading = Array.from({ length: 4 }, async () => {
    await readJsonBytes(requestWith(Buffer.alloc(size)), LARGE_BYTES);
    passed++;
  });
  let most = 0;
  for (let before = 0; before < reading.length; before = passed) {
    await turn();
    most = Math.max(most, passed - before);
  }
  clock.mockRestore();
  return most;
}

describe('bodies that arrive together', () => {
  it('are passed on one after another if they are large', async () => {
    expect(await mostInOneTurn(LARGE_BYTES)).toBeLessThanOrEqual(2);
  });

  it('are passed on together if they are small', async () => {
    expect(await mostInOneTurn(LARGE_BYTES - 1)).toBe(4);
  });
});
