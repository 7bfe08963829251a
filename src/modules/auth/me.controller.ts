import { Get } from '@nestjs/common';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { OrganizationService } from './organization.service.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import type { Call } from '../../platform/data/call.js';
import { AnyKey } from '../../platform/http/routes/access.js';
import { describeKey, MeDto } from './me.dto.js';

/** Describes the key of the caller. Connectors call it to test a key. */
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
