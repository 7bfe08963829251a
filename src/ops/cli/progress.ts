import type { Progress } from '../../platform/extension/command.js';

const WIDTH = 40;
const REDRAW_EVERY_MS = 100;

/** @returns a progress bar, which shows nothing without a terminal */
export function createProgress(terminal: { write(text: string): unknown } | undefined): Progress {
  return async (total, work) => {
    if (!terminal) return work(() => undefined);
    let done = 0;
    let drawnAt = -Infinity;
    const draw = () => {
      drawnAt = performance.now();
      terminal.write(`\r${bar(done, total)}`);
    };
    try {
      return await work((by) => {
        done += by;
        if (performance.now() - drawnAt >= REDRAW_EVERY_MS) draw();
      });
    } finally {
      draw();
      terminal.write('\n');
    }
  };
}

function bar(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.floor(share * WIDTH);
  const numbers = `${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `[${'#'.repeat(filled).padEnd(WIDTH, '.')}]${percent}  ${numbers}`;
}
