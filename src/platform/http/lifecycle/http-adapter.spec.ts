import http, { type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, Response } from 'express';
import { HttpAdapter } from './http-adapter.js';

/** All properties that Express adds to the requests and responses of Node.js. */
function addRoutes(app: Express): void {
  app.set('trust proxy', true);
  app.set('etag', false);
  app.set('x-powered-by', false);
  app.use((_request: Request, response: Response, next: NextFunction) => {
    response.locals.seen = true;
    next();
  });
  app.get('/request', (request, response) => {
    const { ip, protocol, hostname, xhr, fresh, path, baseUrl, originalUrl, secure } = request;
    response.json({
      ...{ ip, protocol, hostname, xhr, fresh, path, baseUrl, originalUrl, secure },
      accepts: request.accepts('json', 'html'),
      header: request.get('x-a'),
      is: request.is('json'),
      locals: response.locals,
      apps: [request.app === app, response.app === app, response.req === request],
      nodes: [request instanceof http.IncomingMessage, response instanceof http.ServerResponse],
    });
  });
  app.get('/redirect', (_, response) => {
    response.redirect('/request');
  });
  app.get('/send', (_, response) => {
    response.status(201).vary('Accept').type('txt').cookie('a', 'b').send('hi');
  });
  app.get('/stream', (_, response) => {
    response.write('a');
    response.end('b');
  });
  app.get('/nothing', (_, response) => {
    response.sendStatus(204);
  });
  app.get('/throws', () => {
    throw new Error('boom');
  });
  app.use((error: Error, _: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error);
    else response.status(500).json({ error: error.message });
  });
}

async function serverOf(adapter: ExpressAdapter): Promise<Server> {
  addRoutes(adapter.getInstance<Express>());
  adapter.initHttpServer({});
  const server = adapter.getHttpServer() as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function ask(server: Server, path: string, init: RequestInit): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const answer = await fetch(url + path, { redirect: 'manual', ...init });
  const headers = Object.fromEntries(answer.headers);
  delete headers.date;
  // The two servers keep idle connections for different times.
  delete headers['keep-alive'];
  // Only the adapter of Latitude gives requests an id.
  delete headers['x-request-id'];
  const text = await answer.text();
  return { status: answer.status, headers, text: text.replaceAll(String(port), 'PORT') };
}

describe('requests and responses with the prototypes of Express', () => {
  let stock: Server;
  let ours: Server;

  beforeAll(async () => {
    stock = await serverOf(new ExpressAdapter());
    ours = await serverOf(new HttpAdapter());
  });
  afterAll(() => {
    stock.close();
    ours.close();
  });

  it.each<[string, RequestInit]>([
    ['/request', { headers: { 'X-A': 'z', 'X-Forwarded-For': '1.2.3.4' } }],
    [
      '/request',
      { headers: { 'X-Requested-With': 'XMLHttpRequest', 'X-Forwarded-Proto': 'https' } },
    ],
    ['/request', { headers: { Accept: 'text/html', 'Content-Type': 'application/json' } }],
    ['/request', { method: 'HEAD' }],
    ['/request', { headers: { 'If-None-Match': '*' } }],
    ['/redirect', {}],
    ['/send', {}],
    ['/stream', {}],
    ['/nothing', {}],
    ['/throws', {}],
    ['/unknown', {}],
    ['/unknown', { method: 'POST', body: 'x' }],
  ])('behave like those of Express: %s %j', async (path, init) => {
    expect(await ask(ours, path, init)).toEqual(await ask(stock, path, init));
  });
});
