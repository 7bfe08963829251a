import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { Tool } from '../../mcp/tools/tool.decorator.js';
import { ResourcesService } from '../resources.service.js';
import { FoundSlotsDto, FreeSlotsQuery } from './free-slots.dto.js';
import { FreeSlotsService } from './free-slots.service.js';
import { AgentHoldDto, CreateHoldDto } from './hold.dto.js';
import { HoldsService } from './holds.service.js';

/** Free times and holds for agents (docs/contract/mcp.md#bookings). */
@Injectable()
export class BookingsTools {
  constructor(
    private readonly freeSlots: FreeSlotsService,
    private readonly holds: HoldsService,
    private readonly resources: ResourcesService,
  ) {}

  @Tool('find_free_slots', {
    title: 'Find free slots',
    description:
      'Find when people, crews and rooms are free. create_appointment and hold_slot take the times and the resource_id of a slot.',
    effect: 'reads',
    scope: 'appointments:read',
    input: FreeSlotsQuery,
    brief: { result: ['resources', 'has_more'] },
    output: FoundSlotsDto,
  })
  find(call: Call, query: FreeSlotsQuery) {
    return this.freeSlots.find(call, query);
  }

  @Tool('hold_slot', {
    title: 'Hold a slot',
    description:
      'Keep a free slot while the user decides. create_appointment with its id as hold_id books it; otherwise it ends by itself.',
    effect: 'creates',
    scope: 'appointments:write',
    input: CreateHoldDto,
    brief: { result: ['id'] },
    output: AgentHoldDto,
  })
  async hold(call: Call, hold: CreateHoldDto): Promise<AgentHoldDto> {
    return this.resources.withLocalTimes(call, await this.holds.create(call, hold));
  }
}
