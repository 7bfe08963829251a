import { Controller, Get, UseFilters } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { AnyKey } from '../../platform/http/routes/access.js';
import { ApiRoute, ApiTag } from '../../platform/http/routes/api-route.decorator.js';
import { describeKey, MeDto } from './me.dto.js';
import { OwnOrganizationDto } from './organization.dto.js';
import { OrganizationService } from './organization.service.js';

/** Describes the key of the caller. Connectors call it to test a key. */
@Controller('api/v1/me')
@UseFilters(ErrorFilter)
@ApiTag('Me', 'The key that a request carries.')
export class MeController {
  constructor(private readonly organization: OrganizationService) {}

  @Get()
  @AnyKey()
  @ApiRoute({ summary: 'Test a key', response: MeDto })
  get(@CurrentCall() call: Call): MeDto {
    return { ...describeKey(call), limits: this.organization.limitsOf(call) };
  }
}

/** The organization of a key (docs/contract/endpoints.md#organization). */
@Controller('api/v1/organization')
@UseFilters(ErrorFilter)
@ApiTag('Organization', 'The organization of the key.')
export class OrganizationController {
  constructor(private readonly organization: OrganizationService) {}

  @Get()
  @AnyKey()
  @ApiRoute({ summary: 'Get the organization', response: OwnOrganizationDto })
  get(@CurrentCall() call: Call) {
    return this.organization.describe(call);
  }
}
