import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stopWithAgents } from '../support/mcp/agent.js';
import { createLead, getLead, LEADS } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import { PROTOCOL_MODES } from '../support/mcp/mcp-sdk-clients.js';
import { type Attempt, attempt, callsOf } from './attempt.js';
import { BOOKING_TASKS } from './bookings.js';
import { ofTheCore, renamed, withoutDescriptions } from './clients.js';
import { QUESTION_TASKS } from './questions.js';
import { SALES_TASKS, type SalesTask } from './tasks.js';
import { transcriptOf } from './transcript.js';

const DOCUMENT = path.resolve(__dirname, '../../docs/agent-evaluation.md');
const MARK = '<!-- What follows is written by npm run agents:transcript. -->\n\n';

const EVERY_TASK = [...SALES_TASKS, ...QUESTION_TASKS, ...BOOKING_TASKS];
const BY_TITLE = EVERY_TASK.map((task) => [task.title, task] as const);

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => stopWithAgents(app));

const attempts = new Map<string, Promise<Attempt>>();

/** Solves a task once, in one of the protocol modes, with only the core tools, because the transcript lists them. */
function solve(task: SalesTask): Promise<Attempt> {
  const protocolMode = PROTOCOL_MODES[EVERY_TASK.indexOf(task) % PROTOCOL_MODES.length]!;
  const attempted =
    attempts.get(task.title) ?? attempt(app, task, { protocolMode, through: ofTheCore });
  attempts.set(task.title, attempted);
  return attempted;
}

function taskOf(title: string): SalesTask {
  return SALES_TASKS.find((task) => task.title === title)!;
}

describe('an agent that knows only the list of tools', () => {
  it.each(BY_TITLE)('solves the task: %s', async (_, task) => {
    expect(callsOf(await solve(task)).length).toBeLessThanOrEqual(task.calls);
  });

  it('produces the transcript of docs/agent-evaluation.md', async () => {
    const solved = await Promise.all(EVERY_TASK.map(solve));
    const document = readFileSync(DOCUMENT, 'utf8');
    const [introduction] = document.split(MARK);
    const actual = `${introduction}${MARK}${transcriptOf(solved)}`;
    if (process.env.WRITE_TRANSCRIPT) writeFileSync(DOCUMENT, actual);
    else expect(document).toBe(actual);
  });
});

describe('an agent that chooses tools by their descriptions', () => {
  it.each(BY_TITLE)('solves the task with renamed and reordered tools: %s', async (_, task) => {
    const solved = await attempt(app, task, { protocolMode: 'stateless', through: renamed });
    expect(callsOf(solved).length).toBeLessThanOrEqual(task.calls);
    const names = (tools: Attempt['tools']) => tools.map(({ name }) => name);
    expect(names(solved.tools)).toContain('leads_search');
    expect(names(solved.tools)).not.toContain('list_leads');
  });

  it.each(['tools', 'arguments'] as const)(
    'solves no task if the %s have no descriptions',
    async (of) => {
      const conditions = { protocolMode: 'stateless', through: withoutDescriptions(of) } as const;
      const all = await Promise.allSettled(
        EVERY_TASK.map((task) => attempt(app, task, conditions)),
      );
      const solved = all.flatMap((one) => (one.status === 'fulfilled' ? one.value.task.title : []));
      expect(solved).toEqual([]);
    },
  );
});

describe('an agent that follows confirmations and errors', () => {
  let limited: TestApp;
  beforeAll(async () => {
    limited = await TestApp.start({ settings: { writesPerMinute: 1 }, database: app.database });
  });
  afterAll(() => stopWithAgents(limited));
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('deletes nothing without a confirmation', async () => {
    const task: SalesTask = {
      ...taskOf('Cleaning up'),
      check: async (api, { test }, said) => {
        expect(said).toEqual(['Then I leave it as it is.']);
        expect(await getLead(api, test!.id)).toEqual(test);
      },
    };
    await attempt(app, task, { protocolMode: 'sessions', userAndClock: { confirm: () => false } });
  });

  it.each([
    [0, 'I find no such lead.'],
    [2, 'I find 2 that fit. Which do you mean?'],
    [51, 'I find 51 that fit. Which do you mean?'],
  ])('deletes nothing if %i records match', async (count, answer) => {
    const task: SalesTask = {
      ...taskOf('Cleaning up'),
      prepare: async (api) => {
        const tester = { first_name: 'Test', last_name: 'Tester' };
        await Promise.all(Array.from({ length: count }, () => createLead(api, tester)));
        return {};
      },
      check: async (api, _, said) => {
        expect(said).toEqual([answer]);
        expect(await api.get(LEADS)).toMatchObject({ body: { meta: { total: count } } });
      },
    };
    await attempt(app, task, { protocolMode: 'sessions' });
  });

  it('waits for the time of a rate limit and continues', async () => {
    const waits: number[] = [];
    const { now } = Date;
    const clock = jest.spyOn(Date, 'now');
    const wait = (seconds: number) => {
      waits.push(seconds);
      clock.mockImplementation(() => now() + seconds * 1000);
      return Promise.resolve();
    };
    const task = taskOf('Hot leads that no one calls');
    await attempt(app, task, { protocolMode: 'stateless', at: limited, userAndClock: { wait } });
    expect(waits).toEqual([expect.any(Number)]);
  });
});
