import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { types } from 'node:util';

describe('the environment of tests', () => {
  it("shares its classes with Node's own modules", async () => {
    const error: unknown = await readFile('/does/not/exist').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(await readFile(__filename)).toBeInstanceOf(Uint8Array);
  });

  it('has Node load packages', () => {
    expect(types.isModuleNamespaceObject(jest.requireActual('uuid'))).toBe(true);
  });

  it("lets Node's streams work while timers are fake", async () => {
    jest.useFakeTimers();
    expect(await text(Readable.from(['a', 'b']))).toBe('ab');
    jest.useRealTimers();
  });
});
