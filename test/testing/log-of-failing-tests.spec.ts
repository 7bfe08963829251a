import { expectError } from '../../src/testing/factories.js';
import ProcessEnvironment from '../../src/testing/jest/environment.mjs';
import { TestApp } from '../../src/testing/test-app.js';
import { FailingModule, SECRET } from '../support/modules/failing.module.js';

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start({ modules: [FailingModule] });
});
afterAll(() => app.stop());

/** Returns what the environment prints at the end of a test, during which a request failed. */
async function printedAtTheEndOf(test: { name: string; errors: Error[] }): Promise<string> {
  const { api } = await app.organization();
  expectError(await api.get('/api/v1/test/unforeseen/error'), 500, 'internal_error');
  const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  ProcessEnvironment.prototype.handleTestEvent({ name: 'test_done', test });
  const printed = write.mock.calls.join('');
  write.mockRestore();
  return printed;
}

it('prints the errors that the application logged during a failing test', async () => {
  const printed = await printedAtTheEndOf({ name: 'greets', errors: [new Error()] });
  expect(printed).toContain('The log of the servers during "greets":');
  expect(printed).toContain(SECRET);
});

it('prints nothing of tests that pass', async () => {
  expect(await printedAtTheEndOf({ name: 'passes', errors: [] })).toBe('');
  const { api } = await app.organization();
  expectError(await api.get('/api/v1/test/codes/not_found'), 404, 'not_found');
  const printed = await printedAtTheEndOf({ name: 'fails', errors: [new Error()] });
  expect(printed.match(/"status":500/g)).toHaveLength(1);
});
