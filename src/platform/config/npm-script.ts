/** How soon the process notices that npm has ended. */
const CHECK_EVERY_MS = 250;

/**
 * Calls a listener when the npm that runs this process as a script has ended. npm passes SIGINT and SIGTERM on,
 * but not SIGHUP and SIGKILL, which end it at once.
 */
export function onEndOfNpm(listener: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    listener();
  }, CHECK_EVERY_MS).unref();
}
