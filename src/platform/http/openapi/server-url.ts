import type { Request } from 'express';

const DEFAULT_PORT = 3000;

/** Returns `servers` of the document. */
export function serversOf(url: string): { url: string; description: string }[] {
  return [{ url, description: 'This service' }];
}

/** Returns the URL of a server on this machine. A `port` of 0 is not known yet. */
export function localUrl(port = 0): string {
  return `http://127.0.0.1:${port === 0 ? DEFAULT_PORT : port}`;
}

/** Returns the URL of the server in a request; with `TRUST_PROXY`, the forwarded one. */
export function serverUrlOf({ protocol, host, socket }: Request): string {
  // HTTP/1.0 has no `Host`.
  const known = host as string | undefined;
  return originOf(`${protocol}://${known ?? ''}`) ?? localUrl(socket.localPort);
}

/** @returns undefined if `Host` is not a host with an optional port */
function originOf(address: string): string | undefined {
  if (!/^https?:\/\/[\w.:[\]-]+$/.test(address) || !URL.canParse(address)) return undefined;
  return new URL(address).origin;
}
