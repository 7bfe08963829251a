/** The environment variable in which a parent passes a worker its options. It is not a setting. */
export const WORKER_OPTIONS = 'LATITUDE_WORKER';

/** Reads the options of a worker, and removes them for the processes that the worker starts. */
export function takeWorkerOptions(): string | undefined {
  const options = process.env[WORKER_OPTIONS];
  Reflect.deleteProperty(process.env, WORKER_OPTIONS);
  return options;
}
