import http from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request } from 'express';
import {
  expressClasses,
  expressRoutes,
  moveRoutesToEnd,
  routeExactly,
} from './express-internals.js';

describe('the internals of Express that the HTTP code relies on', () => {
  it('the router has its routes in a stack that can be matched', () => {
    const app = express();
    app.get('/leads/:id', () => undefined);
    app.post('/leads', () => undefined);
    expect(expressRoutes(app).map(({ path }) => path)).toEqual(['/leads/:id', '/leads']);
    const [route] = expressRoutes(app, '/leads/1');
    expect(route?.methods).toMatchObject({ get: true });
  });

  it('the stack of the router can be reordered', () => {
    const app = express();
    app.all('/{*path}', () => undefined);
    app.get('/leads', () => undefined);
    moveRoutesToEnd(app, '{*path}');
    expect(expressRoutes(app).map(({ path }) => path)).toEqual(['/leads', '/{*path}']);
  });

  it('requests and responses keep the prototypes of their classes, on exact paths', async () => {
    const app = express();
    routeExactly(app);
    const classes = expressClasses(app);
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
});
