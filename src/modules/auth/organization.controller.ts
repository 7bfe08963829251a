import { Body, Get, Put } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { AnyKey, RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { describeKey, MeDto } from './me.dto.js';
import { OwnOrganizationDto, UpdateOwnOrganizationDto } from './organization.dto.js';
import { OrganizationService } from './organization.service.js';

/** The organization of a key (docs/contract/endpoints.md#organization). */
@ApiController('organization', 'Organization', 'The organization of the key.')
export class OrganizationController {
  constructor(private readonly organization: OrganizationService) {}

  @Get()
  @AnyKey()
  @ApiRoute({ summary: 'Get the organization', response: OwnOrganizationDto })
  get(@CurrentCall() call: Call) {
    return this.organization.describe(call);
  }

  @Put()
  @RequireScope('organization:write')
  @ApiRoute({ summary: 'Update the organization', response: OwnOrganizationDto })
  update(@CurrentCall() call: Call, @Body() changes: UpdateOwnOrganizationDto) {
    return this.organization.update(call, changes);
  }
}

/** The key of the caller. Connectors call it to test a key. */
@ApiController('me', 'Me', 'The key that a request carries.')
export class MeController {
  constructor(private readonly organization: OrganizationService) {}

  @Get()
  @AnyKey()
  @ApiRoute({ summary: 'Test a key', response: MeDto })
  get(@CurrentCall() call: Call): MeDto {
    return { ...describeKey(call), limits: this.organization.limitsOf(call) };
  }
}
