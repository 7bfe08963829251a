import type { Request } from 'express';

const DEFAULT_PORT = 3000;

/** The address of a server on this machine; a port of 0 is not known yet. */
export function localUrl(port = 0): string {
  return `http://127.0.0.1:${port === 0 ? DEFAULT_PORT : port}`;
}

/** The address by which a caller reached the server; behind `TRUST_PROXY`, the forwarded one. */
export function serverUrlOf({ protocol, host, socket }: Request): string {
  // HTTP/1.0 knows no `Host`.
  const known = host as string | undefined;
  return originOf(`${protocol}://${known ?? ''}`) ?? localUrl(socket.localPort);
}

/** A `Host` can be any text: undefined unless it is a host, with or without a port. */
function originOf(address: string): string | undefined {
  if (!/^https?:\/\/[\w.:[\]-]+$/.test(address) || !URL.canParse(address)) return undefined;
  return new URL(address).origin;
}
