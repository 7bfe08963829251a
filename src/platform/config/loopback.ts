/** The names of this machine, as URLs have them. */
const HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a URL leads to this machine by HTTP, which needs no TLS. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && HOSTS.includes(hostname);
}

/** Whether a server that listens on this address is reached from this machine only. */
export function isLoopbackAddress(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
