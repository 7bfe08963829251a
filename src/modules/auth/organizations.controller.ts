import { Body, Get, Post, Query } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { ListQuery } from '../../platform/data/lists/list-query.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { OperatorKey } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { ApiKeyWithSecretDto } from './key.dto.js';
import { CreateOrganizationDto, FirstKeyDto, OrganizationDto } from './organization.dto.js';
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
}
