import { defineExtension } from '../../platform/extension/extension.js';
import { addWebhookCommands } from './webhooks.commands.js';
import { WebhooksModule } from './webhooks.module.js';
import { Delivery } from './delivery.entity.js';
import { Webhook } from './webhook.entity.js';

export const webhooksExtension = defineExtension({
  name: 'webhooks',
  module: WebhooksModule,
  scopes: ['webhooks:read', 'webhooks:write'],
  errors: {
    webhook_disabled: {
      status: 409,
      retryable: false,
      message: 'The webhook is disabled.',
      advice: 'Enable the webhook first.',
    },
    too_many_webhooks: {
      status: 409,
      retryable: false,
      message: 'The organization has 50 webhooks, which is the maximum.',
      advice: 'Delete a webhook that is not used.',
    },
  },
  entities: [Webhook, Delivery],
  commands: [addWebhookCommands],
});
