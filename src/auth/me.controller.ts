import { Controller, Get } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { formatDateTime } from '../fields/date-time.js';
import { type Actor, Caller } from '../tenancy/actor.js';
import { AnyKey } from './access.js';

/** What a key is and may do: connectors call it to test one. */
@Controller('api/v1/me')
export class MeController {
  constructor(private readonly settings: Settings) {}

  @Get()
  @AnyKey()
  me(@Caller() { organization, key, scopes }: Actor) {
    return {
      organization: { id: organization.id, name: organization.name },
      key: { id: key.id, name: key.name },
      scopes: [...scopes],
      expires_at: key.expiresAt && formatDateTime(key.expiresAt),
      limits: {
        reads_per_minute: this.settings.readsPerMinute,
        writes_per_minute: this.settings.writesPerMinute,
      },
    };
  }
}
