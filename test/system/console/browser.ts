import { existsSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Settings } from '../../../src/platform/config/settings.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';

const CHROMIUM = '/usr/bin/chromium';

/** A browser starts slowly on a busy machine. */
export const BROWSER_TIMEOUT_MS = 180_000;

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const NARROW = { width: 320, height: 640 };
const WIDE = { width: 1280, height: 800 };

/** Where the screenshots of the documentation are. They are written if CONSOLE_SCREENSHOTS is set. */
const SCREENSHOTS = 'docs/console';

/** A browser and the server whose console it opens. */
export class ConsoleBrowser {
  /** Messages of the browser's console, violations of the policy, and requests to other hosts. */
  readonly faults: string[] = [];

  private constructor(
    readonly app: TestServer,
    private readonly browser: Browser,
  ) {}

  /** @param settings of a server of its own; without them, it is the shared one */
  static async start(settings?: Partial<Settings>): Promise<ConsoleBrowser> {
    const app = await (settings ? TestApp.start({ settings }) : TestServer.shared());
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    return new ConsoleBrowser(app, browser);
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.app.stop();
  }

  /**
   * Signs in by a link, as the first start prints one, and opens a view. Each call has a profile of its own.
   * @param path such as `leads/ID?status=new`, relative to `/console/`
   */
  async open({ key }: Tenant, path = ''): Promise<Page> {
    const page = await this.newPage();
    await page.goto(`${this.app.url}/console/${path}#key=${key.key}`);
    await page.locator('header').waitFor();
    return page;
  }

  /** A page whose faults are collected. */
  async newPage(): Promise<Page> {
    const options = { viewport: WIDE, timezoneId: 'Europe/Berlin', locale: 'en-US' };
    const context = await this.browser.newContext(options);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('console', (message) => {
      // A response that is no success is logged as an error, but the page handles it.
      const isStatus = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isStatus) this.faults.push(message.text());
    });
    page.on('pageerror', (error) => this.faults.push(error.message));
    page.on('dialog', (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== this.app.url) this.faults.push(request.url());
    });
    return page;
  }

  /**
   * Expects that a view, once it has loaded, has no finding of axe and does not scroll sideways in any direction of text, narrow
   * and dark, and wide
   * and light.
   * @param name of its screenshot
   */
  async check(page: Page, name: string): Promise<void> {
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    for (const [viewport, colorScheme] of [
      [NARROW, 'dark'],
      [WIDE, 'light'],
    ] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
      const findings = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
      expect([name, viewport.width, colorScheme, findings]).toEqual([
        ...[name, viewport.width, colorScheme],
        [],
      ]);
      for (const direction of ['rtl', 'ltr']) {
        const overflow = await page.evaluate(overflowIn(direction));
        expect([name, viewport.width, direction, overflow]).toEqual([
          ...[name, viewport.width, direction],
          0,
        ]);
      }
    }
    if (process.env.CONSOLE_SCREENSHOTS) {
      await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
    }
  }
}

/** How far a page in this direction of text scrolls sideways. */
const overflowIn = (direction: string) => `((page) => {
  page.dir = '${direction}';
  return page.scrollWidth - page.clientWidth;
})(document.documentElement)`;

/** Tests in a browser, which are skipped where there is none. */
export function describeInBrowser(
  name: string,
  define: (browser: () => ConsoleBrowser) => void,
  settings?: Partial<Settings>,
) {
  const isInstalled = existsSync(CHROMIUM);
  const note = isInstalled ? '' : ` (skipped: there is no ${CHROMIUM})`;
  (isInstalled ? describe : describe.skip)(`${name}${note}`, () => {
    let browser: ConsoleBrowser;
    beforeAll(async () => {
      browser = await ConsoleBrowser.start(settings);
    }, BROWSER_TIMEOUT_MS);
    afterAll(() => browser.stop());
    afterEach(() => {
      expect(browser.faults.splice(0)).toEqual([]);
    });
    define(() => browser);
  });
}
