import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SystemDatabase } from '../../../platform/data/gateway/system-database.js';

const NAME = 'confirmations';

/** The secret that signs the state of confirmations. All instances have the same one. */
@Injectable()
export class ConfirmationSecretRepository {
  private secret: Promise<Buffer> | undefined;

  constructor(private readonly database: SystemDatabase) {}

  /** @throws ApiError `query_failed`, `create_failed` */
  get(): Promise<Buffer> {
    this.secret ??= this.read().catch((error: unknown) => {
      this.secret = undefined;
      throw error;
    });
    return this.secret;
  }

  /** Creates the secret at the first use. */
  private async read(): Promise<Buffer> {
    await this.database.write({
      text: `insert into mcp_secrets (name, secret) values ($1, decode($2, 'hex')) on conflict (name) do nothing`,
      values: [NAME, randomBytes(32).toString('hex')],
    });
    const text = `select encode(secret, 'hex') as secret from mcp_secrets where name = $1`;
    const [row] = await this.database.read<{ secret: string }>(text, [NAME]);
    if (!row) throw new Error('The secret of confirmations was not stored.');
    return Buffer.from(row.secret, 'hex');
  }
}
