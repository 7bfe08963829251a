import { Controller, Delete, Get, Query, UseFilters } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiRoute, ApiTag } from '../../platform/http/routes/api-route.decorator.js';
import { GrantDto, GrantListQuery, RevokedGrantDto } from './grants.dto.js';
import { GrantsService } from './grants.service.js';

/** Grants over REST (docs/contract/oauth.md#grants-over-rest). */
@Controller('api/v1/grants')
@UseFilters(ErrorFilter)
@ApiTag('Grants', 'What people have granted to applications.')
export class GrantsController {
  constructor(private readonly grants: GrantsService) {}

  @Get()
  @RequireScope('keys:read')
  @ApiRoute({ summary: 'List grants', response: [GrantDto] })
  list(@CurrentCall() call: Call, @Query() query: GrantListQuery) {
    return this.grants.page(call, query);
  }

  @Get(':id')
  @RequireScope('keys:read')
  @ApiRoute({ summary: 'Get a grant', response: GrantDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.grants.get(call, id);
  }

  @Delete(':id')
  @RequireScope('keys:write')
  @ApiRoute({
    summary: 'Revoke a grant',
    description: 'Its tokens and sessions end with it.',
    response: RevokedGrantDto,
  })
  revoke(@CurrentCall() call: Call, @Id() id: string) {
    return this.grants.revoke(call, id);
  }
}
