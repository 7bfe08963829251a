import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { declareRoute } from './route-declarations.js';
import type { WebhookVerifier } from './webhook-verifier.js';

/**
 * Declares a route that another service calls without an API key
 * (docs/guides/replace-and-add.md#inbound-webhooks). `@Caller()` is the verified organization, `@Body()`
 * the parsed body and `@RawBody()` its bytes. The status is 200 unless `@HttpCode()` follows.
 */
export const Webhook = ({ verify }: { verify: Type<WebhookVerifier> }) =>
  applyDecorators(declareRoute({ access: 'webhook', webhookVerifier: verify }), HttpCode(200));
