import { totalmem } from 'node:os';

const MEBIBYTE = 2 ** 20;

/** Share of the memory that PostgreSQL uses for shared buffers, and its bounds. */
const SHARE_OF_MEMORY = 1 / 16;
const MIN_BUFFERS_MIB = 128;
const MAX_BUFFERS_MIB = 1_024;

const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
const share = Math.floor((memory * SHARE_OF_MEMORY) / MEBIBYTE);

/** Settings for many short concurrent statements that read from memory or a solid-state disk. */
export const TUNING = {
  shared_buffers: `${Math.min(Math.max(share, MIN_BUFFERS_MIB), MAX_BUFFERS_MIB)}MB`,
  // Random reads of a solid-state disk cost little more than sequential ones.
  random_page_cost: '1.1',
  // A single list must not use the processors of all other requests.
  max_parallel_workers_per_gather: '0',
};
