import assert from 'node:assert/strict';
import { FIRST_NUMBER, NUMBER } from './scenarios.mjs';

const MOST_COMPARED = 100;
const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/**
 * Sees to it that all servers give the same answers: to the byte where they read, and but for
 * ids and times where they write.
 * @param afterWrite removes what a request created
 */
export async function assertSameAnswers(servers, { name, requests, writes }, afterWrite) {
  for (const request of requests.slice(0, MOST_COMPARED)) {
    const answers = [];
    for (const server of servers) {
      const answer = await ask(server, request);
      if (writes) {
        await afterWrite();
        answer.body = answer.body.replace(UUID, '<uuid>').replace(TIME, '<time>');
      }
      answers.push(answer);
    }
    for (const [index, answer] of answers.entries()) {
      const pair = `${servers[index].name} and ${servers[0].name}`;
      assert.deepEqual(answer, answers[0], `${name}: ${pair} answer differently`);
    }
    assert.equal(answers[0].status, writes ? 201 : 200, `${name}: ${answers[0].body}`);
  }
}

async function ask(server, { method, path, key, body }) {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    body: body?.replaceAll(NUMBER, FIRST_NUMBER),
  });
  const type = response.headers.get('content-type');
  return { status: response.status, type, body: await response.text() };
}
