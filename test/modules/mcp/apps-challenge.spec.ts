import { expectError } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { TestServer } from '../../../src/testing/test-server.js';

const PATH = '/.well-known/openai-apps-challenge';

describe('GET /.well-known/openai-apps-challenge', () => {
  it('is the token of OPENAI_APPS_CHALLENGE as text, without a key', async () => {
    const app = await TestApp.start({ settings: { openaiAppsChallenge: 'token-123' } });
    const answer = await fetch(`${app.url}${PATH}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await answer.text()).toBe('token-123');
    await app.stop();
  });

  it('is 404 without the setting', async () => {
    const app = await TestServer.shared();
    expectError(await app.client().get(PATH), 404, 'not_found');
    await app.stop();
  });
});
