import base from '../../jest.config.mjs';

export default {
  ...base,
  rootDir: '../..',
  roots: ['<rootDir>/test/system'],
  testRegex: String.raw`\.system\.ts$`,
  maxWorkers: '100%',
};
