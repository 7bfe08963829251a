import type { Server } from 'node:http';

// The handle of a server, which is not public API. A way to stop listening and accept what is queued would make
// this file superfluous: https://github.com/libuv/libuv/issues/1937

/** The handle of a listening server. */
interface ListeningHandle {
  listen?(backlog: number): number;
}

/**
 * Changes the length of the queue of connections that wait to be accepted.
 * @returns whether the server is listening and Node.js has the method
 */
export function setBacklog(server: Server, backlog: number): boolean {
  const { _handle: handle } = server as unknown as { _handle: ListeningHandle | null };
  return handle?.listen?.(backlog) === 0;
}
