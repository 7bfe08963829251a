import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** Creates the key of signatures: 32 random bytes in base64. */
export function createSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/**
 * The value of `webhook-signature`: one signature for each secret.
 * @param content the id, the time in seconds since 1970 and the body, separated by dots, as Standard Webhooks define it
 */
export function signaturesOf(secrets: readonly string[], content: string): string {
  const signatureBy = (secret: string) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  };
  return secrets.map(signatureBy).join(' ');
}
