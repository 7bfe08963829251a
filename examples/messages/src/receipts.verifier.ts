import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectSetting, type WebhookDelivery, WebhookVerifier } from 'latitude';
import type { ReceiptDto } from './receipts.controller.js';

/** Verifies that the SMS provider signed a delivery receipt. */
@Injectable()
export class ReceiptsVerifier extends WebhookVerifier {
  constructor(@InjectSetting('SMS_WEBHOOK_SECRET') private readonly secret: string | undefined) {
    super();
  }

  /** @returns the organization that the provider received with the message */
  verify({ headers, body }: WebhookDelivery): string | undefined {
    if (this.secret === undefined) return undefined;
    const expected = createHmac('sha256', this.secret).update(body).digest();
    const given = Buffer.from(String(headers['x-signature'] ?? ''), 'hex');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return (JSON.parse(body.toString()) as ReceiptDto).account;
  }
}
