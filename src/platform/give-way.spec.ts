import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { giveWay } from './give-way.js';

describe('loops over the input of callers', () => {
  let now = 0;

  beforeEach(async () => {
    now = 0;
    await turn();
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  it('go on while a turn has time', () => {
    expect(giveWay()).toBeUndefined();
    now = 4.9;
    expect(giveWay()).toBeUndefined();
  });

  it('have the time of a turn together, and go on in their order, one after another', async () => {
    const steps: string[] = [];
    const loop = async (name: string, length: number) => {
      for (let step = 0; step < length; step++) {
        await giveWay();
        steps.push(name);
        now += 5;
      }
    };
    const loops = [loop('a', 3), loop('b', 2)];
    const seen: string[] = [];
    while (seen.length < 4) {
      seen.push(steps.join(''));
      await turn();
    }
    await Promise.all(loops);
    expect(seen).toEqual(['', 'aba', 'abab', 'ababa']);
  });
});
