import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

// The parts of Node.js that are not public API. Everything that relies on them is in this file.

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

/** Returns the response that a connection is sending. */
export function pendingResponseOf(socket: Socket): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
