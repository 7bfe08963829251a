// A worker that sends `GET /api/v1/me` again and again. It reports the longest response time, and the most CPU time that the
// server's main thread has used during one of them, which the load of the machine does not change.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, key, pid } = workerData;
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const headers = { authorization: `Bearer ${key}` };

function getMe() {
  return new Promise((resolve, reject) => {
    const request = http.get(`${url}/api/v1/me`, { agent, headers }, (response) => {
      response.resume().once('end', () => {
        if ([200, 503].includes(response.statusCode)) resolve();
        else reject(new Error(`GET /api/v1/me: ${response.statusCode}`));
      });
    });
    request.once('error', reject);
  });
}

/** CPU time of the main thread in milliseconds. */
function cpuTime() {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** Resident memory in MiB. */
function memory() {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1_024;
}

let isRunning = true;
parentPort.once('message', () => (isRunning = false));
const longest = { wall: 0, cpu: 0, memory: 0, requests: 0 };
await getMe();
parentPort.postMessage('ready');
while (isRunning) {
  const [startedAt, cpuBefore] = [performance.now(), cpuTime()];
  await getMe();
  longest.wall = Math.max(longest.wall, performance.now() - startedAt);
  longest.cpu = Math.max(longest.cpu, cpuTime() - cpuBefore);
  longest.memory = Math.max(longest.memory, memory());
  longest.requests++;
}
parentPort.postMessage(longest);
agent.destroy();
