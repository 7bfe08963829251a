import { once } from 'node:events';
import { linesOfPages } from './file-lines.js';

it('the pages of a file end with its stream, also before the first read', async () => {
  const ended = jest.fn();
  const pages = async function* () {
    try {
      yield await Promise.resolve(['a']);
      yield ['b'];
    } finally {
      ended();
    }
  };
  const lines = await linesOfPages('', pages(), (line) => line);
  lines.destroy();
  await once(lines, 'close');
  expect(ended).toHaveBeenCalledTimes(1);
});
