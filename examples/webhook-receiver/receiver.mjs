import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
/** The ids of events that were processed. Store them with what you do, in a database. */
const processed = new Set();

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end('wrong signature');
    return;
  }
  if (!processed.has(event.id)) console.log(event.type, event.record.id, event.changed.join(' '));
  processed.add(event.id);
  response.writeHead(204).end();
});

server.listen(Number(process.env.PORT ?? 4000), () => {
  console.log(`listening on port ${server.address().port}`);
});
