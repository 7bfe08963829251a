import { CreatedRecords, UpdatedRecords, UpdateItemOf } from '../mcp/tools/several-records.js';
import { CreateLeadDto, UpdateLeadDto } from './lead.dto.js';

/** The arguments of `create_leads`. */
export class CreateLeadsDto {
  @CreatedRecords(CreateLeadDto, 'Leads, each with the parameters of create_lead.', [
    { first_name: 'Ada' },
    { first_name: 'Grace', email: 'grace@example.com' },
  ])
  leads: readonly unknown[];
}

/** A lead that `update_leads` changes, without its id. */
export class UpdateLeadItemDto extends UpdateItemOf(UpdateLeadDto) {}

/** The arguments of `update_leads`. */
export class UpdateLeadsDto {
  @UpdatedRecords(UpdateLeadItemDto, 'Leads, each with the parameters of update_lead.', [
    { id: '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43', status: 'lost' },
  ])
  leads: readonly unknown[];
}
