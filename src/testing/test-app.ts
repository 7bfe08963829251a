import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { createApp, initApp, NEST_OPTIONS, serverModule } from '../app.js';
import { Authenticator } from '../platform/access/authenticator.js';
import { KeysService } from '../modules/auth/keys.service.js';
import { setLogErrors } from '../platform/config/error-serializer.js';
import { setLogLevel, setLogOutput } from '../platform/config/logger.js';
import type { Environment } from '../platform/config/setting.js';
import { readSettings, type Settings } from '../platform/config/settings.js';
import type { DatabaseTarget } from '../platform/data/connection/data-source-options.js';
import { UnlimitedTimeBudget } from '../platform/data/gateway/policies.js';
import { settingsOf } from '../platform/extension/listed-extensions.js';
import { openApiDocument } from '../platform/nest/openapi-document.js';
import { HttpAdapter } from '../platform/http/lifecycle/http-adapter.js';
import type { AppOptions } from '../app.module.js';
import type { Call } from '../platform/data/call.js';
import { createDatabase, dropDatabase } from './databases.js';
import { registerDocument } from './validate-answer.js';
import { TEST_SETTINGS } from './test-settings.mjs';
import { testLog } from './test-log.js';
import { sharedDocument, type Tenant, TestServer } from './test-server.js';

/** The same URL for all servers, so that their documents are equal and are compiled once. */
const SERVER_URL = 'http://127.0.0.1';

declare global {
  var latitudeTestApps: Set<TestApp> | undefined;
}

setLogOutput(testLog);

type Override = (builder: TestingModuleBuilder) => TestingModuleBuilder;

async function createWith(override: Override, options: AppOptions) {
  const { Test } = await import('@nestjs/testing');
  const builder = Test.createTestingModule({ imports: [serverModule(options)] });
  const module = await override(builder).compile();
  const adapter = new HttpAdapter();
  const app = module.createNestApplication<NestExpressApplication>(adapter, NEST_OPTIONS);
  return initApp(app, adapter, options.settings);
}

/** The servers that the environment of the suite stops at its end, if a failing test does not. */
function running(): Set<TestApp> {
  return (globalThis.latitudeTestApps ??= new Set());
}

/** A server of the test's own process, with its own database unless one is given. */
export class TestApp extends TestServer {
  private constructor(
    readonly app: NestExpressApplication,
    database: DatabaseTarget,
    readonly settings: Settings,
    private readonly ownsDatabase: boolean,
  ) {
    const { port } = app.getHttpServer().address() as AddressInfo;
    super(`http://127.0.0.1:${port}`, database, app.get(KeysService));
    running().add(this);
  }

  /**
   * Starts an application on a new copy of the template, or on the database of another instance. Without a
   * log level, a failing test prints the errors that the application logged.
   */
  static async start({
    settings = {},
    env = {},
    extensions = [],
    modules = [],
    timeBudget = new UnlimitedTimeBudget(),
    database,
    override,
  }: {
    settings?: Partial<Settings>;
    /** Environment variables, such as the settings of extensions. */
    env?: Environment;
    extensions?: AppOptions['extensions'];
    modules?: AppOptions['modules'];
    /** How long database operations may take. Unlimited by default, because a busy machine may exceed a limit. */
    timeBudget?: AppOptions['timeBudget'];
    database?: DatabaseTarget;
    /** Replaces providers, as with `Test.createTestingModule` of `@nestjs/testing`. */
    override?: Override;
  } = {}): Promise<TestApp> {
    testLog.isPrinted = (settings.logLevel ?? env.LOG_LEVEL) !== undefined;
    const read = readSettings({ LOG_LEVEL: 'error', ...env }, settingsOf(extensions));
    const allSettings = { ...read, ...TEST_SETTINGS, ...settings };
    setLogLevel(allSettings.logLevel);
    setLogErrors(testLog.isPrinted ? allSettings.logErrors : 'full');
    const target = database ?? (await createDatabase());
    const options = { settings: allSettings, database: target, extensions, modules, timeBudget };
    const app = await (override ? createWith(override, options) : createApp(options));
    await app.listen(0, '127.0.0.1');
    // The suite closes connections that are idle. A request that meets the end of a connection would fail.
    app.getHttpServer().keepAliveTimeout = 0;
    const running = new TestApp(app, target, allSettings, database === undefined);
    // Creating the document costs 0.3 s of CPU. Without extensions, it is that of a shared server.
    const shared = modules.length + extensions.length === 0 ? await sharedDocument() : undefined;
    const document = shared ?? (await openApiDocument(app, SERVER_URL));
    registerDocument(running.port, document);
    return running;
  }

  /** A call with the key of a tenant, for services. */
  async call({ key: { key } }: Tenant): Promise<Call> {
    const call = await this.app.get(Authenticator).authenticate(key);
    if (!call) throw new Error('The key of the tenant is not valid.');
    return call;
  }

  /** Stops the application, and drops the database that it created. */
  override async stop(): Promise<void> {
    running().delete(this);
    await super.stop();
    // Closes the keep-alive connections of fetch, which are idle now.
    this.app.getHttpServer().closeIdleConnections();
    await this.app.close();
    if (this.ownsDatabase) await dropDatabase(this.database);
  }
}
