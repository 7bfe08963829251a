import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { directus } from './directus.mjs';
import { install } from './install.mjs';
import { platformatic } from './platformatic.mjs';
import { strapi } from './strapi.mjs';

const MAX_REASON_LENGTH = 300;
const PEERS = [platformatic, directus, strapi];

/**
 * Installs and starts peers, each with a copy of the leads in a database of its own.
 * @param wanted whether all or none are wanted, or the names of those that are
 * @returns the targets, and the skipped peers with the reasons
 */
export async function startPeers(
  { connection, folder, connect, progress, cleanups, signal, ...data },
  wanted = [],
) {
  const [peers, skipped] = [[], []];
  for (const peer of PEERS.filter(({ name }) => wanted === true || wanted.includes(name))) {
    const { name, packages } = peer;
    const steps = [];
    try {
      progress(`installing ${name}, which may take minutes the first time`);
      const installed = await install(name, packages, signal);
      progress(`starting ${name} and copying the leads`);
      const home = path.join(folder, name.toLowerCase());
      await mkdir(home);
      const database = name.toLowerCase();
      const owner = await connect(connection);
      await owner.query(`create database ${database}`);
      const own = { ...connection, database };
      const from = { owner, client: await connect(own), connection: own };
      peers.push(await peer.start({ ...data, ...from, installed, home, cleanups: steps, signal }));
      cleanups.push(...steps);
    } catch (error) {
      for (const step of steps) await step();
      if (signal.aborted) throw error;
      const reason = reasonOf(error);
      progress(`${name} is skipped: ${reason}`);
      skipped.push({ name, reason });
    }
  }
  return { peers, skipped };
}

/** @returns the most informative line of an error, without colours */
function reasonOf({ message }) {
  const lines = stripVTControlCharacters(message).split('\n');
  const telling = lines.find((line) => /error/i.test(line)) ?? lines[0];
  return telling.trim().slice(0, MAX_REASON_LENGTH);
}
