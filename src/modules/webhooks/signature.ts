import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** Creates the key of signatures: 32 random bytes in base64. */
export function createSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** What a signature covers, as Standard Webhooks define it. */
export interface SignedContent {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** The value of `webhook-signature`: one signature for each secret. */
export function signaturesOf(
  secrets: readonly string[],
  { id, timestamp, body }: SignedContent,
): string {
  const signatureBy = (secret: string) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return secrets.map(signatureBy).join(' ');
}
