import { setTimeout as after } from 'node:timers/promises';

/**
 * Sends requests of every kind until the signal is aborted: reads, writes, errors, refusals, calls of tools, imports, and
 * events to a webhook.
 * @param receiver the URL of the webhook
 */
export async function makeTraffic({ url, key, receiver, signal }) {
  const send = async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'object' ? JSON.stringify(body) : body,
    });
    return response.text();
  };
  await send('POST', '/api/v1/webhooks', { url: receiver, types: ['lead.created'] });
  for (let round = 0; !signal.aborted; round++) {
    const email = `lead-${round}@example.com`;
    await send('POST', '/api/v1/leads', { first_name: 'Ada', email });
    await send('POST', '/api/v1/leads', { first_name: 'Again', email });
    await send('POST', '/api/v1/leads', {});
    await send('GET', '/api/v1/leads?search=ada');
    await send('GET', '/api/v1/leads/01a22107-4a74-71a7-961d-71520d55ba98');
    await send('GET', '/nowhere');
    await send('GET', '/api/v1/leads', undefined, { Authorization: 'Bearer lat_wrong' });
    await send('POST', '/api/v1/leads/imports', `first_name\nLine ${round}\n`, {
      'Content-Type': 'text/csv',
    });
    await send(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { Accept: 'application/json, text/event-stream' },
    );
    await after(500);
  }
}
