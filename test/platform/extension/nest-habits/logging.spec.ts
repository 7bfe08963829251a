import { Controller, Get, Logger, Module } from '@nestjs/common';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import type { Settings } from '../../../../src/platform/config/settings.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { captureLog } from '../../../support/captured-log.js';

const SECRET = 'grace@example.com';

@Controller('api/v1/notes')
class NotesController {
  private readonly logger = new Logger('Notes');

  @Get('levels')
  @AnyKey()
  levels() {
    this.logger.fatal('fatal');
    this.logger.error('error');
    this.logger.warn('warn');
    this.logger.log('log');
    this.logger.debug('debug');
    this.logger.verbose('verbose');
    return {};
  }

  @Get('values')
  @AnyKey()
  values() {
    this.logger.log('text', { id: 7 });
    this.logger.log({ id: 8 });
    this.logger.error('text', 'a stack');
    this.logger.error('text', new TypeError(SECRET));
    this.logger.error(new TypeError(SECRET));
    Logger.log('without context');
    return {};
  }

  @Get('unexpected')
  @AnyKey()
  unexpected(): never {
    throw new Error(SECRET, { cause: SECRET });
  }
}

@Module({ controllers: [NotesController] })
class NotesModule {}

type Line = Readonly<Record<string, unknown>>;

const captured = captureLog();

/** Starts a server, sends requests, and returns the lines of its log. */
async function logOf(settings: Partial<Settings>, ...paths: string[]): Promise<readonly Line[]> {
  const before = captured.length;
  const app = await TestApp.start({ modules: [NotesModule], settings });
  const { api } = await app.organization();
  for (const path of paths) await api.get(`/api/v1/notes/${path}`);
  await app.stop();
  return captured.slice(before).map((line) => JSON.parse(line) as Line);
}

const fromNotes = (lines: readonly Line[]) => lines.filter(({ context }) => context === 'Notes');

describe('the Logger of Nest', () => {
  it('logs each method with its level and context', async () => {
    const lines = fromNotes(await logOf({ logLevel: 'trace' }, 'levels'));
    expect(lines.map(({ msg, level }) => [msg, level])).toEqual([
      ['fatal', 60],
      ['error', 50],
      ['warn', 40],
      ['log', 30],
      ['debug', 20],
      ['verbose', 10],
    ]);
  });

  it('logs objects as data, and errors without their messages', async () => {
    const lines = await logOf({ logLevel: 'info' }, 'values');
    const err = { type: 'TypeError', stack: expect.stringContaining('at ') as string };
    expect(fromNotes(lines)).toMatchObject([
      { msg: 'text', data: [{ id: 7 }] },
      { data: [{ id: 8 }] },
      { msg: 'text', stack: 'a stack' },
      { msg: 'text', err },
      { msg: 'TypeError', err },
    ]);
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'without context' }));
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  it("logs Nest's startup messages at level debug", async () => {
    const isOfNest = ({ context }: Line) => /^(Nest|Router|Routes|Instance)/.test(String(context));
    expect((await logOf({ logLevel: 'info' })).filter(isOfNest)).toEqual([]);
    expect((await logOf({ logLevel: 'debug' })).filter(isOfNest)).not.toEqual([]);
  });
});

describe('LOG_ERRORS', () => {
  const unexpected = (lines: readonly Line[]) => lines.find(({ msg }) => msg === 'unhandled error');

  it('hides the messages of unexpected errors by default', async () => {
    const lines = await logOf({ logLevel: 'error' }, 'unexpected', 'values');
    expect(unexpected(lines)).toMatchObject({ err: { type: 'Error', cause: { type: 'string' } } });
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  it('shows the messages with the value full', async () => {
    const lines = await logOf({ logLevel: 'error', logErrors: 'full' }, 'unexpected', 'values');
    const cause = { message: `'${SECRET}'` };
    expect(unexpected(lines)).toMatchObject({ err: { message: SECRET, cause } });
    expect(fromNotes(lines).at(-1)).toMatchObject({ err: { message: SECRET } });
  });
});
