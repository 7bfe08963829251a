/** The signals that ask a process to stop. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** On Ctrl+C, the terminal sends SIGINT to the process and to npm, which passes it on: it arrives twice. */
const REPETITION_MS = 1_000;

/**
 * Calls a listener with the first stop signal. Signals within the next second are repetitions of the first
 * one. A later signal ends the process at once.
 * @returns removes the listeners
 */
export function onStopSignal(listener: (signal: NodeJS.Signals) => void): () => void {
  let receivedAt: number | undefined;
  const receive = (signal: NodeJS.Signals) => {
    if (receivedAt === undefined) {
      receivedAt = performance.now();
      listener(signal);
    } else if (performance.now() - receivedAt >= REPETITION_MS) {
      // Without a listener, the signal ends the process.
      remove();
      process.kill(process.pid, signal);
    }
  };
  const remove = () => {
    for (const signal of STOP_SIGNALS) process.off(signal, receive);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, receive);
  return remove;
}
