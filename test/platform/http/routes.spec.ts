import { All, Controller, Get, Module } from '@nestjs/common';
import { RoutePlans } from '../../../src/platform/http/route-plans.js';
import { AnyKey, isRestRoute } from '../../../src/platform/http/routes/access.js';
import type { Access } from '../../../src/platform/http/routes/route-declarations.js';
import { expectError } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { ALL_ROUTES, OPERATOR_ROUTES, routeName } from '../../../src/testing/routes.js';

/** A layer of Express: a route or a middleware. */
interface Layer {
  readonly name: string;
  readonly handle: { readonly stack?: unknown };
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/** A method and path with its access; undefined if none is declared. */
type Inventory = Readonly<Record<string, Access | undefined>>;

@Controller('test')
class UndeclaredController {
  @Get('undeclared')
  undeclared() {
    return { secret: true };
  }
}

@Module({ controllers: [UndeclaredController] })
class UndeclaredModule {}

@Controller('test')
class CarelessController {
  @All('everything')
  @AnyKey()
  everything() {
    return { secret: true };
  }
}

@Module({ controllers: [CarelessController] })
class CarelessModule {}

let app: TestApp;
let careless: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  [app, careless] = await Promise.all([
    TestApp.start(),
    TestApp.start({ modules: [CarelessModule] }),
  ]);
  tenant = await careless.organization();
});
afterAll(() => Promise.all([app.stop(), careless.stop()]));

describe('the routes of the application (Cal.com 2026: a handler without guards)', () => {
  it('are those of the shared test suites, with the same access', () => {
    const table = Object.fromEntries(
      [...ALL_ROUTES, ...OPERATOR_ROUTES].map((route) => [routeName(route), route.access]),
    );
    expect(behindKeys(declaredRoutes(app))).toEqual(table);
  });

  it('are the routes of Express, with the start page', () => {
    expect(expressRoutes(app)).toEqual(['GET /', ...Object.keys(declaredRoutes(app))].sort());
  });

  it('have nothing of what exists for code of a team', () => {
    const handled = plansOf(app).filter(({ team }) => team !== undefined);
    expect(handled.map(({ route }) => route)).toEqual([]);
    const ofTeam = plansOf(careless).filter(({ team }) => team !== undefined);
    expect(ofTeam.map(({ route }) => route)).toEqual(['ALL /test/everything']);
  });

  it('follow a fixed list of middleware, because middleware runs before the guards', () => {
    const middleware = layersOf(app).filter(({ route }) => !route);
    // Express' own middleware, ours, the headers of the console, and Nest's handlers for unknown routes and exceptions.
    expect(middleware.map(({ name }) => name)).toEqual([
      '<anonymous>',
      'shedLoad',
      'requestContext',
      'handler',
      'handler',
      '<anonymous>',
      '<anonymous>',
    ]);
    expect(middleware.filter(({ handle }) => handle.stack !== undefined)).toEqual([]);
  });

  it('are public only for the public pages', () => {
    const open = Object.entries(declaredRoutes(app)).filter(([, access]) => access === 'public');
    const page =
      /^GET \/(docs(\/[\w.-]+)?|console(\/\{\*view\})?|openapi\.json|llms\.txt|health\/(live|ready)|metrics|\.well-known\/openai-apps-challenge|calendars\/:secret\.ics)$/;
    expect(open.filter(([name]) => !page.test(name))).toEqual([]);
  });

  it('have their own protocol only at /mcp', () => {
    const own = Object.entries(declaredRoutes(app)).filter(([, who]) => who === 'raw');
    expect(own.map(([name]) => name).sort()).toEqual(['DELETE /mcp', 'GET /mcp', 'POST /mcp']);
  });

  it('have the version in their path if they require a key', () => {
    const paths = Object.keys(behindKeys(declaredRoutes(app))).map((name) => name.split(' ')[1]);
    expect(paths.filter((path) => !path?.startsWith('/api/v1/'))).toEqual([]);
  });

  it('end with the catch-all route', () => {
    const catchAll = Object.entries(declaredRoutes(app)).filter(
      ([, who]) => who === 'unknown-route',
    );
    expect(catchAll.map(([name]) => name)).toEqual(['ALL /{*path}']);
    expect(layersOf(app).findLast(({ route }) => route)?.route?.path).toBe('/{*path}');
  });
});

describe('a route without declared access', () => {
  it('makes startup fail', async () => {
    await expect(TestApp.start({ modules: [UndeclaredModule] })).rejects.toThrow(
      'GET /test/undeclared declares no access.',
    );
  });
});

describe('a route of all methods', () => {
  it.each(['GET', 'POST', 'PATCH', 'OPTIONS', 'PROPFIND'])(
    'requires its key for %s',
    async (method) => {
      const refused = await careless.client().request(method, '/test/everything');
      expectError(refused, 401, 'unauthorized');
      const { status } = await tenant.api.request(method, '/test/everything');
      expect(status).toBeLessThan(300);
    },
  );
});

/** The REST routes, without pages, /mcp and the catch-all route. */
function behindKeys(inventory: Inventory): Inventory {
  return Object.fromEntries(Object.entries(inventory).filter(([, access]) => isRestRoute(access)));
}

function plansOf({ app: nest }: TestApp) {
  return nest.get(RoutePlans).all();
}

/** The route of every plan with its declared access. */
function declaredRoutes(of: TestApp): Inventory {
  return Object.fromEntries(
    plansOf(of).flatMap(({ httpMethod, paths, access }) =>
      paths.map((path) => [`${httpMethod} ${path}`, access] as const),
    ),
  );
}

function expressRoutes(of: TestApp): string[] {
  return layersOf(of)
    .flatMap(({ route }) => {
      const methods = Object.keys(route?.methods ?? {});
      const every = methods.includes('get') && methods.includes('propfind');
      return (every ? ['all'] : methods).map(
        (name) => `${name.toUpperCase()} ${route?.path ?? ''}`,
      );
    })
    .sort();
}

function layersOf({ app: nest }: TestApp): readonly Layer[] {
  const express = nest.getHttpAdapter().getInstance() as unknown as { router: { stack: Layer[] } };
  return express.router.stack;
}
