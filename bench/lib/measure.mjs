import { waitUntilIdle } from './database.mjs';
import { usageOfProcessTree } from './processes.mjs';

/** Limit up to which a measurement without any response is extended, in seconds. */
const MAX_SECONDS = 60;

/** Number of connections above which a server may refuse a part of the requests. */
const OVERLOAD = 32;

/** Log lines of failed requests and statements. */
const FAILURE = /"status":[45]|"level":[56]0/;

/**
 * Measures targets one at a time on an otherwise idle machine, and restores what they write.
 * @param postmaster process id of their PostgreSQL
 */
export function measurer({ load, client, postmaster, seconds, signal }) {
  return async (target, { title, operations, writes }, connections) => {
    const { server, request, name } = target;
    await waitUntilIdle(client);
    const run = { url: server.url, requests: operations.map(request), connections, signal };
    for (let length = seconds; ; length *= 4) {
      const measured = await underLoad(server, postmaster, () =>
        load.run({ ...run, seconds: length }),
      );
      if (writes)
        await checkAndRestore(client, target, { operations, writes, connections }, measured);
      const { broken, refused, served } = measured;
      const isRefused = refused > 0 && (connections <= OVERLOAD || served === 0);
      if (broken > 0 || isRefused || (served === 0 && length > MAX_SECONDS)) {
        throw await failure(`${name}, ${title}, ${connections} connections`, server, measured);
      }
      if (served > 0) return measured;
      await waitUntilIdle(client);
    }
  };
}

async function underLoad(server, postmaster, run) {
  const usages = () =>
    Promise.all([usageOfProcessTree(server.pid, postmaster), usageOfProcessTree(postmaster)]);
  const before = await usages();
  const done = await run();
  const after = await usages();
  const [serverCpu, databaseCpu] = before.map(
    (start, i) => start && (after[i].cpu - start.cpu) / done.requests,
  );
  const served = done.requests - done.refused;
  const rate = served / done.seconds;
  return { ...done, served, rate, serverCpu, databaseCpu, memory: after[0]?.memory };
}

/** Throws if fewer leads were written than requests were served. */
async function checkAndRestore(
  client,
  { table, name },
  { operations, writes, connections },
  { served, refused },
) {
  await waitUntilIdle(client);
  const written = await table.restore(writes);
  // Each lead has a turn before any has its second one. In the first turns, some requests can be refused, and some
  // have no response yet.
  const least =
    writes === 'created' ? served : Math.min(served, operations.length - connections - refused);
  if (written < least) {
    throw new Error(`${name} served ${served} requests and ${written} leads are ${writes}`);
  }
}

async function failure(what, server, { broken, refused, served }) {
  const counts = `${served} requests were served, ${refused} refused and ${broken} not answered`;
  const log = (await server.logTail(FAILURE)) || (await server.logTail());
  return new Error(`${what}: ${counts}; its log ends with\n${log}`);
}
