/** The environment variable by which a parent gives a worker its options. It is no setting. */
export const WORKER_OPTIONS = 'LATITUDE_WORKER';

/** Reads the options of a worker, and removes them for the processes that the worker starts. */
export function takeWorkerOptions(): string | undefined {
  const options = process.env[WORKER_OPTIONS];
  Reflect.deleteProperty(process.env, WORKER_OPTIONS);
  return options;
}
