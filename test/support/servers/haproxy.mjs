/** Path in Debian's package. */
export const HAPROXY_PATH = '/usr/sbin/haproxy';

/** Limits of time that all sections share. */
export const DEFAULTS = `
defaults
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 2s
`;

/** Repeats requests, which helps when an instance is killed. */
export const REPEATS = `
  option redispatch 1
  retries 5
  retry-on conn-failure empty-response
  default-server observe layer4 error-limit 1 on-error mark-down
`;

/** Instances without stickiness: the configuration of docs/operating/load-balancers.md. */
export function instancesSection(port, instances, options = REPEATS) {
  return `
listen latitude
  mode http
  bind 127.0.0.1:${port}
  balance roundrobin
  option httpchk GET /health/ready
  default-server check inter 1s fall 3 rise 1
${options}
${serverLines(instances)}
`;
}

export function serverLines(ports) {
  return ports.map((port, n) => `  server s${n} 127.0.0.1:${port}`).join('\n');
}

/** The page from which `serverRows` reads. */
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
