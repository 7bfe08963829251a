import { Body, Delete, Get, Put, Query } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { ListQuery } from '../../platform/data/lists/list-query.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { GrantDto, RevokedGrantDto, UpdateGrantDto } from './grants.dto.js';
import { GrantsService } from './grants.service.js';

/** Grants over REST (docs/contract/oauth.md#grants-over-rest). */
@ApiController('grants', 'Grants', 'What people have granted to applications.')
export class GrantsController {
  constructor(private readonly grants: GrantsService) {}

  @Get()
  @RequireScope('keys:read')
  @ApiRoute({ summary: 'List grants', response: [GrantDto] })
  list(@CurrentCall() call: Call, @Query() query: ListQuery) {
    return this.grants.list(call, query);
  }

  @Get(':id')
  @RequireScope('keys:read')
  @ApiRoute({ summary: 'Get a grant', response: GrantDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.grants.get(call, id).stored;
  }

  @Put(':id')
  @RequireScope('keys:write')
  @ApiRoute({
    summary: 'Update a grant',
    description: 'Of a revoked grant, nothing changes.',
    response: GrantDto,
    errors: ['key_not_manageable'],
  })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateGrantDto) {
    return this.grants.update(call, id, changes).stored;
  }

  @Delete(':id')
  @RequireScope('keys:write')
  @ApiRoute({
    summary: 'Revoke a grant',
    description: 'Its tokens and sessions end with it.',
    response: RevokedGrantDto,
    errors: ['key_not_manageable'],
  })
  revoke(@CurrentCall() call: Call, @Id() id: string) {
    return this.grants.revoke(call, id);
  }
}
