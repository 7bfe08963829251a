/**
 * Settings of test servers. The rate limits are so high that only their own tests meet them. Few connections
 * are enough, and opening one takes longer than most requests.
 */
export const TEST_SETTINGS = {
  port: 0,
  readsPerMinute: 1_000_000,
  writesPerMinute: 1_000_000,
  databaseMaxConnections: 10,
};
