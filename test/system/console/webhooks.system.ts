import { createLead, dataOf } from '../../../src/testing/factories.js';
import { WEBHOOKS } from '../../support/webhooks.js';
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
        await row.getByText('503').waitFor();
        expect(await row.innerText()).toContain(HOSTILE.script);
        await row.getByRole('button', { name: 'Show all' }).waitFor();
        await browser().check(page, 'webhook');

        receiver.answer = () => ({ status: 200 });
        await row.getByRole('button', { name: 'Send again' }).click();
        await row.getByText('delivered').waitFor();
        await page.getByRole('button', { name: 'Send a test event' }).click();
        await page.getByRole('row').filter({ hasText: 'webhook' }).getByText('delivered').waitFor();
        await page.getByLabel('Status').selectOption('delivered');
        await page.waitForURL(/status=succeeded/);
      },
      BROWSER_TIMEOUT_MS,
    );

    it(
      'a person changes, switches off and deletes a webhook, and sees only what the key may do',
      async () => {
        const tenant = await browser().app.organization();
        const webhook = { url: receiver.url(), types: ['lead.created', 'task.created'] };
        const { id } = dataOf<{ id: string }>(await tenant.api.post(WEBHOOKS, webhook), 201);
        const reader = await browser().app.key(tenant.id, ['webhooks:read']);
        const other = await browser().open(reader, `webhooks/${id}`);
        await other.getByText('No deliveries.').waitFor();
        const buttons = await other.locator('main').getByRole('button').allInnerTexts();
        expect(buttons).toEqual(['Refresh']);

        const page = await browser().open(tenant, `webhooks/${id}`);
        await page.getByRole('button', { name: 'Edit' }).press('Enter');
        await page.getByRole('checkbox', { name: 'task created' }).press('Space');
        await page.getByLabel('Filter').fill('{"city": {"gt": 1}}');
        await page.getByRole('button', { name: 'Save' }).press('Enter');
        await page.locator('.field .error', { hasText: 'filter' }).waitFor();
        await page.getByLabel('Filter').fill('{"city": "Graz"}');
        await page.getByRole('checkbox', { name: 'Send events' }).press('Space');
        await page.getByRole('button', { name: 'Save' }).press('Enter');
        await page.getByText('switched off').waitFor();
        expect(dataOf(await tenant.api.get(`${WEBHOOKS}/${id}`))).toMatchObject({
          types: ['lead.created'],
          filter: { city: 'Graz' },
          enabled: false,
        });

        await page.getByRole('button', { name: 'Replace the secret' }).press('Enter');
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: 'Replace the secret' }).press('Enter');
        expect(await page.locator('code').innerText()).toMatch(/^whsec_/);
        await page.getByRole('button', { name: 'Delete' }).press('Enter');
        await dialog.getByRole('button', { name: 'Delete' }).press('Enter');
        await page.getByText('No webhooks yet.').waitFor();
        expect((await tenant.api.get(`${WEBHOOKS}/${id}`)).status).toBe(404);
      },
      BROWSER_TIMEOUT_MS,
    );
  },
  { webhooksAllowPrivateTargets: true },
);
