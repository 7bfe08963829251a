// Prints the SQL of the function `latitude_fold`, which folds text as `foldText` of the build does, from the same tables. A
// migration has the output. Usage: node scripts/fold-function.mjs
import { FOLD_TABLES, foldText } from '../dist/src/platform/data/lists/search-text.js';
import { withAsciiDigits, withoutInvisible } from '../dist/src/platform/fields/kinds/text.js';

const { ACCENTED, ACCENT, SPACES, APOSTROPHES, QUOTES, DASHES, LETTERS } = FOLD_TABLES;

const CHARACTERS = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code > 0 && (code < 0xd800 || code > 0xdfff))
  .map((code) => String.fromCodePoint(code));

/**
 * Letters that Unicode added after version 10 and that have another case or a compatibility decomposition. The oldest ICU of
 * a supported PostgreSQL, that of the embedded one, knows version 10, and PostgreSQL 15 normalizes by version 14.
 */
const LATER_LETTERS = new RegExp(
  [
    String.raw`[\u1c89\u1c90-\u1cbf\u2c2f\u2c5f\ua7b8-\ua7f6\u{10570}-\u{105bc}\u{10d50}-\u{10d85}`,
    String.raw`\u{16e40}-\u{16e7f}\u{16ea0}-\u{16ed3}\u{1ccd6}-\u{1ccef}\u{1e030}-\u{1e06d}]`,
  ].join(''),
  'u',
);

const of = (regex) => {
  const one = new RegExp(`^${regex.source}$`, 'u');
  return CHARACTERS.filter((character) => one.test(character));
};
const hexOf = (character) => character.codePointAt(0).toString(16);

/** A class of characters for regular expressions of PostgreSQL. */
function classOf(characters) {
  const ranges = [];
  for (const code of characters.map((character) => character.codePointAt(0))) {
    const last = ranges.at(-1);
    if (last?.[1] === code - 1) last[1] = code;
    else ranges.push([code, code]);
  }
  const escape = (code) => `\\U${code.toString(16).padStart(8, '0')}`;
  return `[${ranges.map(([from, to]) => (from === to ? escape(from) : `${escape(from)}-${escape(to)}`)).join('')}]`;
}

/** A string literal in ASCII. */
function literalOf(text) {
  const escaped = Array.from(text, (character) => {
    if (/[ -&(-[\]-~]/.test(character)) return character;
    return character === "'" ? "''" : `\\+${hexOf(character).padStart(6, '0')}`;
  });
  return `U&'${escaped.join('')}'`;
}

const translate = (text, pairs) => {
  const [from, to] = [0, 1].map((side) => literalOf(pairs.map((pair) => pair[side]).join('')));
  return `translate(${text}, ${from}, ${to})`;
};
const to = (target) => (character) => [character, target];

const several = (pairs) => pairs.filter(([, text]) => [...text].length > 1);

// Digits of other scripts, and letters that PostgreSQL may not know.
const first = CHARACTERS.flatMap((character) => {
  const folded = LATER_LETTERS.test(character) ? foldText(character) : withAsciiDigits(character);
  return folded === character ? [] : [[character, folded]];
});
if (several(first).length > 0) throw new Error(`more than one character: ${several(first)}`);

const apostrophes = new Set(of(APOSTROPHES));
const plain = [
  ...Object.entries(LETTERS).filter(([, letters]) => letters.length === 1),
  ['ς', 'σ'],
  ...[...apostrophes].map(to("'")),
  ...of(QUOTES).map(to('"')),
  ...of(DASHES).map(to('-')),
];
const spaces = of(new RegExp(SPACES.source.slice(0, -1), 'u'));
const replaceClass = (text, characters, by) =>
  `regexp_replace(${text}, '${classOf(characters)}+', '${by}', 'g')`;
const foldCase = (text) => `lower(upper(lower(normalize(${text}, NFKD) collate latitude_names)))`;
const withoutAccents = (text) =>
  `regexp_replace(${text} collate "C", '(${classOf(of(ACCENTED))})${classOf(of(ACCENT))}+', '\\1', 'g')`;

const steps = [
  (text) => translate(text, first),
  (text) =>
    replaceClass(
      text,
      CHARACTERS.filter((each) => withoutInvisible(each) === ''),
      '',
    ),
  // The composed form of some characters is an apostrophe.
  (text) =>
    translate(
      text,
      CHARACTERS.filter((each) => apostrophes.has(each.normalize('NFC'))).map(to("'")),
    ),
  foldCase,
  (text) => withoutAccents(`normalize(${text}, NFKD)`),
  (text) => translate(text, plain),
  ...several(Object.entries(LETTERS)).map(
    ([letter, letters]) =>
      (text) =>
        `replace(${text}, ${literalOf(letter)}, '${letters}')`,
  ),
  (text) => replaceClass(text, spaces, ' '),
  (text) => `normalize(${text}, NFC)`,
];

// Characters of which fewer steps fold every text: letters with accents, and those that no step changes.
const isUsual = (character) => {
  if (/[\u0300-\u0337\u0339-\u036f]/u.test(character)) return withoutInvisible(character) !== '';
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(character)) {
    return character.normalize('NFKD') === character && foldText(character) === character;
  }
  if (/[^\x21-\x7e\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]|\p{M}/u.test(character))
    return false;
  const folded = character
    .normalize('NFKD')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ');
  const bare = folded.replaceAll(
    /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu,
    '',
  );
  return !LATER_LETTERS.test(character) && bare === foldText(character) && !bare.includes(' ');
};
const words = (characters) => `^${classOf(characters)}*( ${classOf(characters)}+)*$`;
const printable = CHARACTERS.filter((each) => /[\x21-\x7e]/.test(each));
const usual = words(CHARACTERS.filter(isUsual));

console.log(`create function latitude_fold(value text) returns text language sql immutable parallel safe
return case
when value collate "C" ~ '${words(printable)}'
then replace(lower(value collate "C"), '\`', '''')
when value collate "C" ~ '${usual}'
then replace(${withoutAccents(foldCase('value'))}, ${literalOf('ς')}, ${literalOf('σ')})
else ${steps.reduce((text, step) => step(text), 'value')}
end`);
