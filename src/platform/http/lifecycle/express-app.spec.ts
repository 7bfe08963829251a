import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request } from 'express';
import { createExpress, serverClassesOf } from './express-app.js';

it('requests and responses keep the prototypes of their classes, on exact paths', async () => {
  const app = createExpress();
  const classes = serverClassesOf(app);
  let received: Request | undefined;
  app.get('/leads', (request, response) => {
    received = request;
    response.json(Object.getPrototypeOf(response) === classes.ServerResponse.prototype);
  });
  const server = http.createServer(classes, app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await (await fetch(`${url}/leads`)).json()).toBe(true);
  expect(Object.getPrototypeOf(received)).toBe(classes.IncomingMessage.prototype);
  expect((await fetch(`${url}/leads/`)).status).toBe(404);
  expect((await fetch(`${url}/Leads`)).status).toBe(404);
  server.close();
  server.closeAllConnections();
});
