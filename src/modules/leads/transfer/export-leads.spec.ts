import { once } from 'node:events';
import type { Call } from '../../../platform/data/call.js';
import type { LeadsService } from '../leads.service.js';
import { exportLeads } from './export-leads.js';

const CALL = {} as Call;
const QUERY = { format: 'ndjson', escape: 'none', bom: false } as const;

/** Leads whose first page is read, and whose second one never comes. */
function endlessLeads(onEnd: () => void): { leads: LeadsService; signal: () => AbortSignal } {
  let given: AbortSignal;
  const readSnapshot = async function* (_call: Call, _query: object, signal: AbortSignal) {
    given = signal;
    try {
      yield await Promise.resolve(['{}']);
      await once(signal, 'abort');
    } finally {
      onEnd();
    }
  };
  return { leads: { readSnapshot } as unknown as LeadsService, signal: () => given };
}

describe('an export', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('ends after ten minutes, and its read with it', async () => {
    const ended = jest.fn();
    const { leads, signal } = endlessLeads(ended);
    const lines = await exportLeads(leads, CALL, QUERY, new AbortController().signal);
    const failed = once(lines, 'error');
    lines.resume();
    jest.advanceTimersByTime(599_999);
    expect(signal().aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(signal().aborted).toBe(true);
    expect(await failed).toMatchObject([{ name: 'AbortError' }]);
    expect(lines.destroyed).toBe(true);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends when its request ends', async () => {
    const request = new AbortController();
    const { leads, signal } = endlessLeads(jest.fn());
    const lines = await exportLeads(leads, CALL, QUERY, request.signal);
    const failed = once(lines, 'error');
    request.abort();
    await failed;
    expect(signal().aborted).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leaves no timer if it fails before its first line', async () => {
    const readSnapshot = async function* (): AsyncGenerator<string[]> {
      yield await Promise.reject<string[]>(new Error('refused'));
    };
    const leads = { readSnapshot } as unknown as LeadsService;
    const failing = exportLeads(leads, CALL, QUERY, new AbortController().signal);
    await expect(failing).rejects.toThrow('refused');
    expect(jest.getTimerCount()).toBe(0);
  });
});
