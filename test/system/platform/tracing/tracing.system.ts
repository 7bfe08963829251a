import { ApiClient } from '../../../../src/testing/api-client.js';
import { dataOf, LEADS } from '../../../../src/testing/factories.js';
import { Collector } from '../../../support/servers/collector.js';
import { FIRST_KEY, Product, until } from '../../../support/servers/product.js';
import { WebhookReceiver } from '../../../support/servers/webhook-receiver.js';

it('try', async () => {
  const collector = await Collector.start();
  const receiver = await WebhookReceiver.start();
  const product = new Product({
    ...collector.environment,
    WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'on',
    WEBHOOKS_TRACEPARENT: 'on',
  });
  const server = await product.start();
  const api = new ApiClient(server.url, server.printed(FIRST_KEY)!);
  const url = receiver.url();
  await api.post('/api/v1/webhooks', { url, types: ['lead.created'] });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const created = await api.post(LEADS, { first_name: 'Ada', last_name: 'L', email: 'a@example.com' }, {
    traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
  });
  dataOf(created, 201);
  await until(async () => receiver.at(url).length > 0);
  await server.stop();
  console.log(JSON.stringify(collector.of(traceId), null, 1));
  console.log(collector.spans.map(({ name, traceId }) => `${name} ${traceId}`).join('\n'));
  console.log(receiver.at(url)[0]!.headers, collector.resources[0], server.stdout);
  await product.remove();
});
