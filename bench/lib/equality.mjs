import assert from 'node:assert/strict';
import { numbered } from './requests.mjs';

const MOST_COMPARED = { reads: 50, writes: 3 };
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Sees to it that all entrants give the answers of the first one: the same JSON where they read,
 * and but for ids and times where they write.
 */
export async function assertSameAnswers({ title, asks, writes, entrants }) {
  for (const ask of asks.slice(0, writes ? MOST_COMPARED.writes : MOST_COMPARED.reads)) {
    let first;
    for (const entrant of entrants) {
      const { status, type, body } = await answerTo(entrant, ask);
      const who = `${title}: ${entrant.name}`;
      assert.equal(status, entrant.statusOf(ask), `${who} answers ${status}: ${body}`);
      assert.match(type ?? '', /^application\/json|^text\/event-stream/, `${who} answers ${type}`);
      const answer = writes ? withoutIdsAndTimes(body) : body;
      if (writes) assert.equal(await entrant.table.undo(writes), 1, `${who} does not write`);
      first ??= answer;
      const [mine, theirs] = [
        entrant.read(JSON.parse(answer), ask),
        entrant.share(JSON.parse(first), ask),
      ];
      assert.deepEqual(mine, theirs, `${who} does not answer as ${entrants[0].name}`);
    }
  }
}

async function answerTo({ server, request }, ask) {
  const { path, ...options } = request(ask);
  const response = await fetch(server.url + path, { ...options, body: numbered(options.body) });
  const type = response.headers.get('content-type');
  const text = await response.text();
  // An event stream holds the answer in the data of its last event.
  const body = type?.startsWith('text/event-stream') ? text.trim().split('data: ').at(-1) : text;
  return { status: response.status, type, body };
}

function withoutIdsAndTimes(body) {
  return JSON.stringify(JSON.parse(body), (name, value) => {
    if (typeof value !== 'string') return value;
    return UUID.test(value) ? '<uuid>' : TIME.test(value) ? '<time>' : value;
  });
}
