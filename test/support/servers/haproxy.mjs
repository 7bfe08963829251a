import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Path in Debian's package. */
export const HAPROXY_PATH = '/usr/sbin/haproxy';

const DOCKER = path.resolve(import.meta.dirname, '../../../docker');

/** The lines of docker/haproxy.cfg that repeat requests, which helps when an instance is killed. */
const REPEATS = /^ +(option redispatch|retries|retry-on|default-server observe) .*\n/gm;

/**
 * Returns docker/haproxy.cfg with the addresses of a test.
 * @param repeats whether it repeats requests
 * @param pem path of a certificate, for its lines with TLS
 */
export function instancesConfiguration(port, instances, { repeats = true, pem } = {}) {
  const text = configuration('haproxy.cfg', port, instances);
  const chosen = pem === undefined ? text : withTls(text, port, pem);
  return repeats ? chosen : chosen.replace(REPEATS, '');
}

function withTls(text, port, pem) {
  return text
    .replace(/^ +bind .*\n/m, '')
    .replace('# With TLS: bind :443', `bind 127.0.0.1:${port}`)
    .replace('/etc/haproxy/latitude.pem', pem);
}

/** Returns docker/haproxy-postgres.cfg with the addresses of a test and its copy of docker/is-primary. */
export function postgresConfiguration(port, servers, script) {
  return configuration('haproxy-postgres.cfg', port, servers).replace(
    '/etc/haproxy/is-primary',
    script,
  );
}

export const IS_PRIMARY = path.join(DOCKER, 'is-primary');

/** Replaces the addresses of a file, as an operator does. */
function configuration(name, port, ports) {
  const servers = ports.map((each, n) => `  server s${n} 127.0.0.1:${each}\n`).join('');
  const text = readFileSync(path.join(DOCKER, name), 'utf8');
  return text
    .replace(/^( +bind) :\d+$/m, `$1 127.0.0.1:${port}`)
    .replace(/(^ +server \S+ \S+:\d+\n)+/m, servers);
}

/** A section with the page from which `serverRows` reads. */
export function statsSection(port) {
  return `
listen stats
  mode http
  bind 127.0.0.1:${port}
  stats enable
  stats uri /
`;
}

/** Returns what HAProxy has measured of each server of a section. */
export async function serverRows(statsPort, section) {
  const response = await fetch(`http://127.0.0.1:${statsPort}/;csv`);
  const [header, ...lines] = (await response.text()).replace(/^# /, '').trim().split('\n');
  const names = header.split(',');
  return lines
    .map((line) => Object.fromEntries(line.split(',').map((value, n) => [names[n], value])))
    .filter(({ pxname, svname }) => pxname === section && /^s\d+$/.test(svname));
}
