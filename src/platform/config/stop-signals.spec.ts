import { onStopSignal, STOP_SIGNALS } from './stop-signals.js';

describe('stop signals', () => {
  let kill: jest.SpyInstance;
  let stop: () => void;
  const received: NodeJS.Signals[] = [];

  beforeEach(() => {
    jest.useFakeTimers();
    kill = jest.spyOn(process, 'kill').mockReturnValue(true);
    received.length = 0;
    stop = onStopSignal((signal) => received.push(signal));
  });
  afterEach(() => {
    stop();
    kill.mockRestore();
    jest.useRealTimers();
  });

  it('reports the first signal, and ignores its repetition through npm', () => {
    process.emit('SIGINT', 'SIGINT');
    jest.advanceTimersByTime(999);
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGTERM', 'SIGTERM');
    expect(received).toEqual(['SIGINT']);
    expect(kill).not.toHaveBeenCalled();
  });

  it('ends the process by a signal that follows a second later', () => {
    process.emit('SIGTERM', 'SIGTERM');
    jest.advanceTimersByTime(1_000);
    process.emit('SIGINT', 'SIGINT');
    expect(received).toEqual(['SIGTERM']);
    expect(kill).toHaveBeenCalledWith(process.pid, 'SIGINT');
    expect(STOP_SIGNALS.map((signal) => process.listenerCount(signal))).toEqual([0, 0, 0]);
  });
});
