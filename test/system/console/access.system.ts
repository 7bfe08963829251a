import { dataOf } from '../../../src/testing/factories.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { BROWSER_TIMEOUT_MS, describeInBrowser } from './browser.js';
import { HOSTILE } from './hostile.js';

const KEYS = '/api/v1/keys';
const MANAGER = ['keys:read', 'keys:write', 'leads:read', 'leads:write'] as const;

describeInBrowser('keys and grants in the console', (browser) => {
  const rowsOf = async (tenant: Tenant) =>
    dataOf<{ name: string; revoked_at: string | null; scopes: string[] }[]>(
      await tenant.api.get(KEYS),
    );

  it(
    'a person makes a key, which is shown once, rotates it and revokes it, by the keyboard',
    async () => {
      const tenant = await browser().app.organization({ scopes: MANAGER, name: 'Ada' });
      const page = await browser().open(tenant, 'access');
      await page.getByText('No application has been granted access.').waitFor();
      await page.getByRole('link', { name: 'New key' }).press('Enter');

      await page.getByRole('button', { name: 'Create' }).press('Enter');
      await page.getByText('name is required').waitFor();
      await page.getByLabel('Name').fill(HOSTILE.script);
      await page.getByRole('checkbox', { name: 'leads:read' }).press('Space');
      await page.getByLabel('Reads in a minute').fill('100000000');
      await page.getByRole('button', { name: 'Create' }).press('Enter');
      await page.locator('.field .error', { hasText: 'must be at most' }).waitFor();
      await page.getByLabel('Reads in a minute').fill('5');
      await browser().check(page, 'access-new');
      await page.getByRole('button', { name: 'Create' }).press('Enter');
      const key = await page.locator('code').innerText();
      const me = dataOf<object>(await browser().app.client(key).get('/api/v1/me'));
      expect(me).toMatchObject({ scopes: ['leads:read'], limits: { reads_per_minute: 5 } });
      await browser().check(page, 'access-created');

      await page.getByRole('link', { name: 'To the keys' }).press('Enter');
      const row = page.getByRole('row').filter({ hasText: HOSTILE.script });
      await row.getByText('5 reads, default writes').waitFor();
      expect(await page.content()).not.toContain(key);
      await browser().check(page, 'access');

      const dialog = page.getByRole('dialog');
      await row.getByRole('button', { name: 'Rotate' }).press('Enter');
      await dialog.getByLabel('The old key stays valid for').selectOption('an hour');
      await dialog.getByRole('button', { name: 'Rotate' }).press('Enter');
      const successor = await page.locator('code').innerText();
      for (const each of [key, successor]) {
        expect((await browser().app.client(each).get('/api/v1/me')).status).toBe(200);
      }
      await row.nth(1).waitFor();
      await row.nth(0).getByRole('button', { name: 'Revoke' }).press('Enter');
      await dialog.getByRole('button', { name: 'Revoke' }).press('Enter');
      await row.getByText('revoked').waitFor();
      expect((await rowsOf(tenant)).filter(({ revoked_at: at }) => at !== null)).toHaveLength(1);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a person revokes the grant of an application, whose name is any text',
    async () => {
      const tenant = await browser().app.organization({ scopes: MANAGER });
      await browser().app.sql(
        `insert into oauth_grants (organization_id, id, key_id, client_id, client_name, resource, scopes, expires_at)
         values ($1, gen_random_uuid(), $2, 'https://app.example/client.json', $3, 'mcp', '{leads:read}', now() + interval '1 day')`,
        [tenant.id, tenant.key.id, HOSTILE.script + HOSTILE.override],
      );
      const page = await browser().open(tenant, 'access');
      const row = page.getByRole('row').filter({ hasText: 'https://app.example/client.json' });
      expect(await row.innerText()).toContain(HOSTILE.script);
      await browser().check(page, 'access-grants');
      await row.getByRole('button', { name: 'Revoke' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter');
      await row.getByText('revoked').waitFor();
      expect(await row.getByRole('button').count()).toBe(0);
    },
    BROWSER_TIMEOUT_MS,
  );

  it(
    'a person rotates the own key and goes on with the new one, and may do nothing that the key may not',
    async () => {
      const tenant = await browser().app.organization({ scopes: MANAGER, name: 'Ada' });
      const strong = { name: 'strong', scopes: ['tasks:read'] as const };
      await browser().app.key(tenant.id, strong.scopes, strong);
      const page = await browser().open(tenant, 'access');
      const other = page.getByRole('row').filter({ hasText: 'strong' });
      await other.waitFor();
      expect(await other.getByRole('button').count()).toBe(0);
      await page.getByRole('button', { name: 'Rotate' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Rotate' }).click();
      await page.locator('code').waitFor();
      await page.getByRole('link', { name: 'New key' }).click();
      expect(await page.getByRole('checkbox').count()).toBe(MANAGER.length);

      const reader = await browser().app.key(tenant.id, ['keys:read']);
      const view = await browser().open(reader, 'access');
      await view.getByRole('row').filter({ hasText: 'strong' }).waitFor();
      expect(await view.locator('main').getByRole('button').count()).toBe(0);
      expect(await view.getByRole('link', { name: 'New key' }).count()).toBe(0);
      const none = await browser().app.key(tenant.id, ['leads:read']);
      const refused = await browser().open(none, 'access');
      expect(await refused.getByRole('navigation').innerText()).not.toContain('Access');
    },
    BROWSER_TIMEOUT_MS,
  );
});
