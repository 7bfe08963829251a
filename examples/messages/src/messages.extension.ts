import { defineExtension, HealthIndicator, setting } from 'latitude';
import { Message } from './message.entity.js';
import { CreateMessages1800000000000 } from './messages.migration.js';
import { MessagesModule } from './messages.module.js';
import { SmsProviderHealth } from './sms-provider.health.js';

export const messagesExtension = defineExtension({
  name: 'acme-messages',
  compatibleWith: '^0.4',
  module: MessagesModule,
  scopes: ['messages:read', 'messages:write'],
  errors: {
    provider_unavailable: {
      status: 503,
      retryable: true,
      message: 'The SMS provider is not available.',
      advice: 'Repeat the call in a minute.',
    },
  },
  settings: {
    SMS_PROVIDER_URL: setting.url({ optional: true }),
    SMS_WEBHOOK_SECRET: setting.secret(setting.text({ optional: true })),
  },
  migrations: [CreateMessages1800000000000],
  entities: [Message],
  adds: [{ provide: HealthIndicator, useClass: SmsProviderHealth }],
});

declare module 'latitude' {
  interface RegisteredExtensions {
    'acme-messages': typeof messagesExtension;
  }
}
