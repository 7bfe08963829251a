import { Get, HttpCode, Post } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { Audited, NoBody } from '../../platform/http/routes/handler-declarations.js';
import { ErasedLeadDto, PersonalDataDto } from './personal-data.dto.js';
import { PersonalDataService } from './personal-data.service.js';

/** The data of a person over REST (docs/contract/personal-data.md). */
@ApiController('leads/:id', 'Personal data', 'What is stored about a person, and its erasure.')
export class PersonalDataController {
  constructor(private readonly data: PersonalDataService) {}

  @Get('personal-data')
  @Audited()
  @RequireScope('leads:read', 'appointments:read', 'tasks:read', 'events:read', 'webhooks:read')
  @ApiRoute({
    summary: 'Get everything about a person',
    description: 'Also of a lead that is deleted or was merged.',
    response: PersonalDataDto,
  })
  read(@CurrentCall() call: Call, @Id() id: string) {
    return this.data.read(call, id);
  }

  @Post('erase')
  @HttpCode(200)
  @NoBody()
  @RequireScope('leads:erase')
  @ApiRoute({
    summary: 'Erase a person',
    description:
      'Removes the lead, those that were merged with it, and their appointments for good, and empties what events, deliveries and tasks have of them. It cannot be undone.',
    response: ErasedLeadDto,
  })
  async erase(@CurrentCall() call: Call, @Id() id: string) {
    return { erased: true, lead_ids: await this.data.erase(call, id) };
  }
}
