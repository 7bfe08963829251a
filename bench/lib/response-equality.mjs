import assert from 'node:assert/strict';
import { numberedRequest, useNumbers } from './requests.mjs';

const MAX_COMPARED = { reads: 50, writes: 3 };
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Checks that all targets give the same responses as the first one. Ids and times of writes are ignored.
 */
export async function assertSameAnswers({ title, operations, writes, targets }) {
  for (const operation of operations.slice(0, writes ? MAX_COMPARED.writes : MAX_COMPARED.reads)) {
    const number = useNumbers();
    let first;
    for (const target of targets) {
      const { status, type, body, headers } = await answerTo(target, operation, number);
      const who = `${title}: ${target.name}`;
      assert.equal(status, target.statusOf(operation), `${who} answers ${status}: ${body}`);
      assert.match(type ?? '', /^application\/json|^text\/event-stream/, `${who} answers ${type}`);
      const answer = writes ? withoutIdsAndTimes(body) : body;
      if (writes) assert.equal(await target.table.restore(writes), 1, `${who} does not write`);
      first ??= answer;
      const [mine, theirs] = [
        target.normalize(JSON.parse(answer), operation, headers),
        target.expected(JSON.parse(first), operation),
      ];
      assert.deepEqual(mine, theirs, `${who} does not answer as ${targets[0].name}`);
    }
  }
}

async function answerTo({ server, request }, operation, number) {
  const { path, ...options } = numberedRequest(request(operation), number);
  const response = await fetch(server.url + path, options);
  const { status, headers } = response;
  const type = headers.get('content-type');
  const text = await response.text();
  // In an event stream, the response is the data of the last event.
  const body = type?.startsWith('text/event-stream') ? text.trim().split('data: ').at(-1) : text;
  return { status, type, body, headers };
}

function withoutIdsAndTimes(body) {
  return JSON.stringify(JSON.parse(body), (name, value) => {
    if (typeof value !== 'string') return value;
    return UUID.test(value) ? '<uuid>' : TIME.test(value) ? '<time>' : value;
  });
}
