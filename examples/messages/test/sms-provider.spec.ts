import { Test } from '@nestjs/testing';
import { MetricsRegistry, settingToken } from 'latitude';
import { MessagesMetrics } from '../src/messages.metrics.js';
import { SmsProvider } from '../src/sms-provider.js';

const SMS = { id: '1', account: 'acme', to: '+14155550123', text: 'Hello' };

/** Creates the provider without the server and without a database. */
async function providerWith(url: string | undefined): Promise<SmsProvider> {
  const module = await Test.createTestingModule({
    providers: [
      SmsProvider,
      MessagesMetrics,
      MetricsRegistry,
      { provide: settingToken('SMS_PROVIDER_URL'), useValue: url },
    ],
  }).compile();
  return module.get(SmsProvider);
}

afterEach(() => {
  jest.restoreAllMocks();
});

it('sends a message to the URL of the setting', async () => {
  const fetched = jest.spyOn(globalThis, 'fetch').mockResolvedValue(new Response());
  await (await providerWith('https://sms.example')).send(SMS);
  expect(fetched).toHaveBeenCalledWith('https://sms.example', expect.anything());
});

it('answers provider_unavailable without the setting', async () => {
  const provider = await providerWith(undefined);
  await expect(provider.send(SMS)).rejects.toMatchObject({ code: 'provider_unavailable' });
});
