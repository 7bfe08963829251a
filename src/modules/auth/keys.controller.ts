import { Body, Delete, Get, Post, Query } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { ListQuery } from '../../platform/data/lists/list-query.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import {
  ApiKeyDto,
  ApiKeyWithSecretDto,
  CreateKeyDto,
  RevokedKeyDto,
  RotateKeyDto,
} from './key.dto.js';
import { ApiKeysService } from './api-keys.service.js';

/** Keys over REST (docs/contract/keys-and-scopes.md#keys-over-rest). */
@ApiController('keys', 'Keys', 'The API keys of the organization.')
export class KeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Get()
  @RequireScope('keys:read')
  @ApiRoute({ summary: 'List keys', response: [ApiKeyDto] })
  list(@CurrentCall() call: Call, @Query() query: ListQuery) {
    return this.keys.list(call, query);
  }

  @Get(':id')
  @RequireScope('keys:read')
  @ApiRoute({ summary: 'Get a key', response: ApiKeyDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.keys.get(call, id).stored;
  }

  @Post()
  @RequireScope('keys:write')
  @ApiRoute({
    summary: 'Create a key',
    description:
      'The key itself is shown only in this response. It ends at the latest with the key of the request.',
    response: ApiKeyWithSecretDto,
    errors: ['too_many_keys', 'key_not_manageable'],
  })
  create(@CurrentCall() call: Call, @Body() key: CreateKeyDto) {
    return this.keys.create(call, key);
  }

  @Post(':id/rotate')
  @RequireScope('keys:write')
  @ApiRoute({
    summary: 'Rotate a key',
    description: 'Creates its successor, which is shown only in this response.',
    response: ApiKeyWithSecretDto,
    errors: ['too_many_keys', 'key_not_manageable'],
  })
  async rotate(@CurrentCall() call: Call, @Id() id: string, @Body() rotation: RotateKeyDto) {
    const { key } = await this.keys.rotate(call, id, rotation.overlap_seconds * 1_000);
    return key;
  }

  @Delete(':id')
  @RequireScope('keys:write')
  @ApiRoute({
    summary: 'Revoke a key',
    description: 'The keys that end with it are revoked as well.',
    response: RevokedKeyDto,
    errors: ['key_not_manageable'],
  })
  revoke(@CurrentCall() call: Call, @Id() id: string) {
    return this.keys.revoke(call, id);
  }
}
