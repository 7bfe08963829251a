import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import autocannon from 'autocannon';
import { nextNumber, NUMBER, numberedRequest, useNumbers } from './requests.mjs';

const run = promisify(execFile);
const SCRIPT = path.join(import.meta.dirname, 'wrk.lua');

/**
 * A load generator: each connection sends the next of the requests as soon as it has a response. It counts
 * the responses, those among them that were not successful as `refused`, and the requests without a response
 * as `broken`.
 */
class Wrk {
  constructor(version, folder) {
    this.description = `wrk ${version}`;
    this.file = path.join(folder, 'requests.tsv');
  }

  async run({ url, requests, connections, seconds, signal }) {
    const lines = requests.map(({ method, path, headers, body = '' }) =>
      [method, path, body, ...Object.entries(headers).flat()].join('\t'),
    );
    await writeFile(this.file, lines.join('\n') + '\n');
    const length = ['--duration', `${seconds}s`, '--timeout', '60s'];
    const options = ['--threads', '1', '--connections', connections, ...length];
    const args = [...options, '--script', SCRIPT, url, '--', this.file, NUMBER, nextNumber()];
    const { stdout } = await run('wrk', args.map(String), { signal });
    await rm(this.file);
    const summary = JSON.parse(stdout.trim().split('\n').at(-1));
    useNumbers(summary.requests + connections);
    return summary;
  }
}

class Autocannon {
  constructor() {
    const { version } = createRequire(import.meta.url)('autocannon/package.json');
    this.description = `autocannon ${version}`;
  }

  /** @param options.requestsPerSecond the rate of all connections together, by default as high as possible */
  async run({ url, requests, connections, seconds, signal, requestsPerSecond }) {
    let turn = 0;
    const setupRequest = (request) => {
      return { ...request, ...numberedRequest(requests[turn++ % requests.length]) };
    };
    const load = autocannon({
      ...{ url, connections, duration: seconds, timeout: 60 },
      ...(requestsPerSecond && { overallRate: requestsPerSecond }),
      requests: [{ setupRequest }],
    });
    const stop = () => load.stop();
    signal.addEventListener('abort', stop);
    // The percentiles of autocannon are in whole milliseconds.
    const latencies = [];
    load.on('response', (client, status, bytes, milliseconds) => latencies.push(milliseconds));
    const result = await load;
    signal.removeEventListener('abort', stop);
    latencies.sort((a, b) => a - b);
    return {
      requests: latencies.length,
      seconds: result.duration,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      refused: result.non2xx,
      broken: result.errors,
    };
  }
}

/** @returns wrk if it is installed, because it leaves more of the processors to the servers */
export async function findLoadGenerator(folder, wanted) {
  if (wanted === 'autocannon') return new Autocannon();
  // wrk exits with 1 after printing its version.
  const { stdout = '' } = await run('wrk', ['--version']).catch((error) => error);
  const [, version] = /^wrk (?:debian\/)?(\S+)/.exec(stdout) ?? [];
  if (version !== undefined) return new Wrk(version, folder);
  if (wanted === 'wrk') throw new Error('wrk is not installed');
  return new Autocannon();
}

function percentile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
