import { All, Controller, Get, Module, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { ACCESS, type Access, AnyKey, isRest } from '../../src/auth/access.js';
import { expectError } from '../../src/testing/factories.js';
import { TestApp, type Tenant } from '../../src/testing/test-app.js';
import { nameOf, ROUTES } from '../../src/testing/routes.js';

/** One step of Express: a route, or a middleware that sees every request. */
interface Layer {
  readonly name: string;
  readonly handle: { readonly stack?: unknown };
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/** A method and path, and who may call it; undefined where nothing says so. */
type Inventory = Readonly<Record<string, Access | undefined>>;

@Controller('test')
class CarelessController {
  @Get('undeclared')
  undeclared() {
    return { secret: true };
  }

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

describe('inventory of routes (Cal.com 2026: a handler outside the guards)', () => {
  it('is the same in the table of the shared suites, access included', () => {
    const table = Object.fromEntries(ROUTES.map((route) => [nameOf(route), route.access]));
    expect(behindKeys(declaredRoutes(app))).toEqual(table);
  });

  it('holds what Express answers, and nothing answers beside it', () => {
    expect(expressRoutes(app)).toEqual(Object.keys(declaredRoutes(app)).sort());
  });

  it('knows every middleware, for each could answer before the guards', () => {
    const middleware = layersOf(app).filter(({ route }) => !route);
    // Express' own first step, ours, and Nest's two last ones: nothing found, something thrown.
    expect(middleware.map(({ name }) => name)).toEqual([
      '<anonymous>',
      'shedLoad',
      'requestContext',
      'startPage',
      '<anonymous>',
      '<anonymous>',
    ]);
    expect(middleware.filter(({ handle }) => handle.stack !== undefined)).toEqual([]);
  });

  it('is open to everyone only on the public pages', () => {
    const open = Object.entries(declaredRoutes(app)).filter(([, access]) => access === 'public');
    const page = /^GET \/(docs(\/[\w.-]+)?|openapi\.json|llms\.txt|health\/(live|ready)|metrics)$/;
    expect(open.filter(([name]) => !page.test(name))).toEqual([]);
  });

  it('has a protocol of its own on /mcp alone', () => {
    const own = Object.entries(declaredRoutes(app)).filter(([, who]) => who === 'own-protocol');
    expect(own.map(([name]) => name).sort()).toEqual(['DELETE /mcp', 'GET /mcp', 'POST /mcp']);
  });

  it('carries the version in the path of every route behind a key', () => {
    const paths = Object.keys(behindKeys(declaredRoutes(app))).map((name) => name.split(' ')[1]);
    expect(paths.filter((path) => !path?.startsWith('/api/v1/'))).toEqual([]);
  });

  it('has one route for what no other answers, and it comes last', () => {
    const catchAll = Object.entries(declaredRoutes(app)).filter(
      ([, who]) => who === 'unknown-route',
    );
    expect(catchAll.map(([name]) => name)).toEqual(['ALL /{*path}']);
    expect(layersOf(app).findLast(({ route }) => route)?.route?.path).toBe('/{*path}');
  });
});

describe('a route that declares no access', () => {
  it('is found by the inventory', () => {
    const undeclared = (of: TestApp) =>
      Object.entries(declaredRoutes(of)).filter(([, access]) => access === undefined);
    expect(undeclared(app)).toEqual([]);
    expect(undeclared(careless).map(([name]) => name)).toEqual(['GET /test/undeclared']);
  });

  it('is closed to everyone', async () => {
    expectError(await careless.client().get('/test/undeclared'), 401, 'unauthorized');
    expectError(await tenant.api.get('/test/undeclared'), 403, 'insufficient_scope');
    expect(await tenant.api.request('HEAD', '/test/undeclared')).toMatchObject({ status: 403 });
  });
});

describe('a route that answers every method', () => {
  it.each(['GET', 'POST', 'PATCH', 'OPTIONS', 'PROPFIND'])(
    'needs its key on %s',
    async (method) => {
      const refused = await careless.client().request(method, '/test/everything');
      expectError(refused, 401, 'unauthorized');
      const { status } = await tenant.api.request(method, '/test/everything');
      expect(status).toBeLessThan(300);
    },
  );
});

/** The routes of REST: without pages, /mcp, and the route of everything else. */
function behindKeys(inventory: Inventory): Inventory {
  return Object.fromEntries(Object.entries(inventory).filter(([, access]) => isRest(access)));
}

/** Every handler of every controller, with the access that it declares. */
function declaredRoutes({ app: nest }: TestApp): Inventory {
  const controllers = new DiscoveryService(nest.get(ModulesContainer)).getControllers();
  const classes = controllers.map(({ metatype }) => metatype as Type<object>);
  return Object.fromEntries(classes.flatMap(routesOfController));
}

function routesOfController(controller: Type<object>): [string, Access | undefined][] {
  const prototype = controller.prototype as Record<string, object>;
  const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
  return new MetadataScanner()
    .getAllMethodNames(prototype)
    .map((name) => prototype[name]!)
    .filter((handler) => Reflect.hasMetadata(PATH_METADATA, handler))
    .map((handler) => {
      const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
      const path = Reflect.getMetadata(PATH_METADATA, handler) as string;
      const access = Reflect.getMetadata(ACCESS, handler) as Access | undefined;
      return [`${method} ${joined(base, path)}`, access];
    });
}

function joined(base: string, path: string): string {
  return `/${[base, path].filter((part) => part !== '/').join('/')}`;
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
