import { totalmem } from 'node:os';

const MEBIBYTE = 2 ** 20;

/** Of the memory there is, what PostgreSQL keeps pages in; it takes only what it comes to use. */
const SHARE_OF_MEMORY = 1 / 16;
const LEAST_BUFFERS = 128;
const MOST_BUFFERS = 1_024;

/** Settings for many short statements beside one another, from memory or a solid-state disk. */
export const TUNING = {
  shared_buffers: `${sharedBuffers()}MB`,
  // What is not in memory is not at the other end of a turning disk either.
  random_page_cost: '1.1',
  // One list is not to take the processors of all other requests.
  max_parallel_workers_per_gather: '0',
};

function sharedBuffers(): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const share = Math.floor((memory * SHARE_OF_MEMORY) / MEBIBYTE);
  return Math.min(Math.max(share, LEAST_BUFFERS), MOST_BUFFERS);
}
