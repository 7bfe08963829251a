// Checks the files with which Latitude is deployed: validates docker/compose.yaml, the manifests of Kubernetes and the unit
// of systemd, and runs the services of docker/compose.yaml as processes.
// With --restarts, restarts the instances in turn under load, which takes a minute. The validators are not dependencies
// of the project. They have a lock file of their own here.
import { strict as assert } from 'node:assert';
import { setTimeout as after } from 'node:timers/promises';
import { install } from '../server.mjs';

await install(import.meta.dirname);
const { INSTANCES, problemsOfCompose, readCompose } = await import('./compose.mjs');
const { problemsOfManifests } = await import('./kubernetes.mjs');
const { problemsOfUnit } = await import('./systemd.mjs');
const { isOk, Topology } = await import('./topology.mjs');

const compose = readCompose();
assert.deepEqual(await problemsOfCompose(compose), [], 'docker/compose.yaml');
assert.deepEqual(await problemsOfManifests(), [], 'docker/kubernetes');
const problems = problemsOfUnit();
if (problems === undefined) console.log('SKIPPED: systemd is not installed, which checks the unit');
assert.deepEqual(problems ?? [], [], 'docs/operating/systemd.md');

const topology = new Topology(compose);
try {
  await topology.prepare();
  await topology.start('haproxy');
  const { id } = topology.latitude('latitude-1', 'organizations', 'create', '--name', 'Acme');
  const options = [
    '--organization',
    id,
    '--name',
    'first',
    '--scopes',
    'all',
    '--reads-per-minute',
    '6000',
  ];
  const { key } = topology.latitude('latitude-1', 'keys', 'create', ...options);
  await checkService(key);
  if (process.argv.includes('--restarts')) {
    await checkRestarts(key);
  }
} finally {
  await topology.remove();
}

/** The instances serve the API behind HAProxy and share rate limits, and `latitude doctor` finds no failure. */
async function checkService(key) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const limits = [];
  for (const first_name of ['Ada', 'Grace', 'Edsger', 'Barbara']) {
    const body = JSON.stringify({ first_name });
    const response = await fetch(`${topology.url}/api/v1/leads`, { method: 'POST', headers, body });
    assert.equal(response.status, 201, await response.text());
    limits.push(Number(response.headers.get('RateLimit-Remaining')));
  }
  assert.deepEqual(limits, [29, 28, 27, 26], 'instances share the limits of a key');
  assert.equal((await fetch(`${topology.url}/metrics`)).status, 404, 'HAProxy hides the metrics');
  const { checks } = topology.latitude('latitude-1', 'doctor');
  const failed = checks.filter(({ status }) => status === 'failed');
  assert.deepEqual(failed, [], 'latitude doctor');
  for (const name of INSTANCES) {
    const ready = await fetch(`http://127.0.0.1:${topology.ports[name]}/health/ready`);
    assert.deepEqual(await ready.json(), { status: 'ok' }, name);
  }
  console.log('docker/compose.yaml is valid, and its services work together as processes');
}

/** No request fails while the instances are restarted in turn. */
async function checkRestarts(key) {
  const failed = [];
  let isOver = false;
  const load = async () => {
    while (!isOver) {
      const headers = { authorization: `Bearer ${key}` };
      if (!(await isOk(`${topology.url}/api/v1/leads`, { headers }))) failed.push(new Date());
      await after(100);
    }
  };
  const callers = Array.from({ length: 4 }, load);
  for (const name of INSTANCES) {
    assert.equal(await topology.stop(name), 0, `${name} does not stop within its grace period`);
    await topology.start(name);
  }
  isOver = true;
  await Promise.all(callers);
  assert.deepEqual(failed, [], 'requests that failed while instances were restarted');
  console.log('no request failed while the instances were restarted in turn');
}
