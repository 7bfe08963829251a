import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SettingError } from '../../config/setting.js';

/** Connections that the operating system queues until the server accepts them. */
const LISTEN_BACKLOG = 1_024;

/**
 * @param setting the name of the setting that has the port
 * @returns the URL of the server
 * @throws SettingError if the port is in use or the host is not an address of this machine
 */
export async function listen(
  server: Server,
  host: string,
  port: number,
  setting: string,
): Promise<string> {
  try {
    await once(server.listen(port, host, LISTEN_BACKLOG), 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new SettingError(
      `HOST, ${setting}`,
      `cannot be used: no server can listen on ${host}:${port} (${code})`,
    );
  }
  const { address, family, port: chosen } = server.address() as AddressInfo;
  // A server that listens on all addresses is reachable on this machine by its loopback address.
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${family === 'IPv6' ? `[${reachable}]` : reachable}:${chosen}`;
}
