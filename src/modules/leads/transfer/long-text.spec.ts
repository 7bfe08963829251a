import { fieldOfHeader } from './column-names.js';
import { flagOf } from './flag-words.js';

/** Text of two kinds of marks, whose normalization takes time that grows with the square of its length. */
const MARKS = `a${'\u0301\u0327'.repeat(1_000)}`;

it.each([
  ['header', fieldOfHeader],
  ['word for true or false', flagOf],
])('a long text is no known %s, and is not normalized', (_, read) => {
  const normalize = jest.spyOn(String.prototype, 'normalize');
  try {
    expect(read(MARKS)).toBeUndefined();
    expect(normalize).not.toHaveBeenCalled();
    expect(read('e')).toBeUndefined();
    expect(normalize).toHaveBeenCalledTimes(1);
  } finally {
    normalize.mockRestore();
  }
});
