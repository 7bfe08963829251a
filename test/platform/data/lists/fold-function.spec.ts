import { foldText } from '../../../../src/platform/data/lists/search-text.js';
import { TestServer } from '../../../../src/testing/test-server.js';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.shared();
});
afterAll(() => server.stop());

/** The texts that `latitude_fold` folds in another way than `foldText`. */
async function differencesOf(texts: readonly string[]): Promise<string[]> {
  const rows = await server.sql<{ text: string }>(
    `select text from unnest($1::text[], $2::text[]) as each (text, folded)
     where latitude_fold(text) is distinct from folded collate "C"`,
    [texts, texts.map(foldText)],
  );
  return rows.map(({ text }) => text);
}

/** All characters but those that no step changes, of which there are only some. */
function characters(): string[] {
  return Array.from({ length: 0x11_0000 }, (_, code) => code)
    .filter((code) => code > 0 && (code < 0xd8_00 || code > 0xdf_ff))
    .map((code) => [code, String.fromCodePoint(code)] as const)
    .filter(([code, each]) => code % 1024 === 0 || !/[\p{Cn}\p{Co}\p{Script=Han}]/u.test(each))
    .map(([, character]) => character);
}

/** A sequence that is the same in each run. */
function randomNumbers(): (below: number) => number {
  let state = 20_261_128;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff;
    return (state >>> 8) % below;
  };
}

describe('latitude_fold', () => {
  it('folds each character as foldText does, alone and between letters', async () => {
    const all = characters();
    expect(await differencesOf(all.map((each) => `${each} a${each}B`))).toEqual([]);
  });

  it('folds sequences of letters, marks, spaces and punctuation as foldText does', async () => {
    // PostgreSQL 15 does not know the order of marks that Unicode added after version 14.
    const later = /[\u0897\u1acf-\u1aff]/;
    const pool = characters().filter(
      (each) =>
        each < '\u3300' &&
        !later.test(each) &&
        /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hiragana}\p{M}\p{P}\p{Z}\p{Cf}\p{Cc}]/u.test(
          each,
        ),
    );
    const random = randomNumbers();
    const texts = Array.from({ length: 3_000 }, () =>
      Array.from({ length: 2 + random(6) }, () => {
        return random(3) === 0
          ? ' aß\u0301\u3099ÅかΣ'.charAt(random(9))
          : pool[random(pool.length)];
      }).join(''),
    );
    expect(await differencesOf(texts)).toEqual([]);
  });

  it('has no value for none', async () => {
    expect(await server.sql('select latitude_fold(null) as folded')).toEqual([{ folded: null }]);
  });
});
