import { Body, Get, Post, Put, Query } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { ListQuery } from '../../platform/data/lists/list-query.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { OperatorKey } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { NoBody } from '../../platform/http/routes/handler-declarations.js';
import { ApiKeyDto, ApiKeyWithSecretDto, UpdateKeyLimitsDto } from './key.dto.js';
import {
  CreateOrganizationDto,
  FirstKeyDto,
  OrganizationDto,
  UpdateOrganizationDto,
} from './organization.dto.js';
import { OperatorsService } from './operators.service.js';

/** The organizations of an operator (docs/contract/keys-and-scopes.md#operator-keys). */
@ApiController('organizations', 'Organizations', 'What operators create.')
export class OrganizationsController {
  constructor(private readonly operators: OperatorsService) {}

  @Get()
  @OperatorKey()
  @ApiRoute({ summary: 'List the organizations of an operator', response: [OrganizationDto] })
  list(@CurrentCall() call: Call, @Query() query: ListQuery) {
    return this.operators.list(call, query);
  }

  @Get(':id')
  @OperatorKey()
  @ApiRoute({ summary: 'Get an organization of an operator', response: OrganizationDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.operators.get(call, id);
  }

  @Post()
  @OperatorKey()
  @ApiRoute({ summary: 'Create an organization', response: OrganizationDto })
  create(@CurrentCall() call: Call, @Body() organization: CreateOrganizationDto) {
    return this.operators.create(call, organization);
  }

  @Put(':id')
  @OperatorKey()
  @ApiRoute({
    summary: 'Rename, suspend or resume an organization',
    description: 'The keys of a suspended organization are refused, and its deliveries are held.',
    response: OrganizationDto,
  })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateOrganizationDto) {
    return this.operators.update(call, id, changes);
  }

  @Post(':id/first-key/replace')
  @OperatorKey()
  @NoBody()
  @ApiRoute({
    summary: 'Replace the first key of an organization',
    description: 'While it was never used. The new key is shown only in this response.',
    response: ApiKeyWithSecretDto,
    errors: ['first_key_exists'],
  })
  replaceFirstKey(@CurrentCall() call: Call, @Id() id: string) {
    return this.operators.replaceFirstKey(call, id);
  }

  @Post(':id/keys')
  @OperatorKey()
  @ApiRoute({
    summary: 'Create the first key of an organization',
    description: 'The key itself is shown only in this response.',
    response: ApiKeyWithSecretDto,
    errors: ['first_key_exists'],
  })
  createFirstKey(@CurrentCall() call: Call, @Id() id: string, @Body() key: FirstKeyDto) {
    return this.operators.createFirstKey(call, id, key);
  }

  @Get(':id/keys')
  @OperatorKey()
  @ApiRoute({ summary: 'List the keys of an organization', response: [ApiKeyDto] })
  listKeys(@CurrentCall() call: Call, @Id() id: string, @Query() query: ListQuery) {
    return this.operators.listKeysOf(call, id, query);
  }

  @Put(':id/keys/:key_id')
  @OperatorKey()
  @ApiRoute({
    summary: 'Change the rate limits of a key',
    description: 'They apply within a second. Keys that end with it get at most the same.',
    response: ApiKeyDto,
  })
  setLimits(
    @CurrentCall() call: Call,
    @Id() id: string,
    @Id('key_id') keyId: string,
    @Body() limits: UpdateKeyLimitsDto,
  ) {
    return this.operators.setLimits(call, { id, keyId }, limits);
  }
}
