import { createLead } from '../../../src/testing/factories.js';
import { WebhookReceiver } from '../../support/servers/webhook-receiver.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

describeInBrowser(
  'webhooks in the console',
  (browser) => {
    let receiver: WebhookReceiver;
    beforeAll(async () => {
      receiver = await WebhookReceiver.start();
    });
    afterAll(() => receiver.stop());

    it(
      'a person makes a webhook, sees its secret once, and its deliveries with what the receiver answered',
      async () => {
        const tenant = await browser().app.organization();
        receiver.answer = () => ({ status: 503, body: HOSTILE.script + HOSTILE.long });
        const page = await browser().open(tenant, 'webhooks');
        await page.getByText('No webhooks yet.').waitFor();
        await browser().check(page, 'webhooks-empty');
        await page.getByRole('link', { name: 'New webhook' }).click();

        await page.getByRole('button', { name: 'Create' }).click();
        await page.getByText('url is required').waitFor();
        await page.getByLabel('Address').fill('javascript:alert(1)');
        await page.getByRole('checkbox', { name: 'lead created' }).check();
        await page.getByLabel('Description').fill(HOSTILE.override);
        await page.getByRole('button', { name: 'Create' }).click();
        await page.locator('.field .error', { hasText: 'must be an http or https URL' }).waitFor();
        await browser().check(page, 'webhook-new');

        await page.getByLabel('Address').fill(receiver.url());
        await page.getByRole('button', { name: 'Create' }).click();
        expect(await page.locator('code').innerText()).toMatch(/^whsec_/);
        await browser().check(page, 'webhook-created');
        await page.getByRole('link', { name: 'To the webhook' }).click();
        await page.getByText('No deliveries.').waitFor();
        expect(await page.locator('code').count()).toBe(0);

        await createLead(tenant.api);
        const row = page.getByRole('row').filter({ hasText: 'lead created' });
        await expect
          .poll?.(() => row.count());
        await browser().check(page, 'webhook');
      },
      BROWSER_TIMEOUT_MS,
    );
  },
  { webhooksAllowPrivateTargets: true },
);
