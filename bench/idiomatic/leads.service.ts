import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Like, Repository } from 'typeorm';
import type { CreateLeadDto, ListLeadsDto, UpdateLeadDto } from './lead.dto.js';
import { Lead } from './lead.entity.js';

const DEFAULTS = {
  last_name: null,
  phone: null,
  email: null,
  company: null,
  address_street: null,
  city: null,
  state: null,
  zip: null,
  status: null,
  temperature: null,
  source: 'api',
  notes: null,
  tags: [],
  custom_fields: {},
  sms_opted_out: false,
  on_dnc_list: false,
  external_id: null,
};

@Injectable()
export class LeadsService {
  constructor(@InjectRepository(Lead) private readonly leads: Repository<Lead>) {}

  list(organizationId: string, { page, limit, search }: ListLeadsDto): Promise<[Lead[], number]> {
    return this.leads.findAndCount({
      select: {
        id: true,
        first_name: true,
        last_name: true,
        phone: true,
        email: true,
        status: true,
        temperature: true,
        lead_score: true,
        company: true,
        created_at: true,
        updated_at: true,
      },
      where: {
        organization_id: organizationId,
        // Uses Latitude's column and index; ILIKE on each field would read every row.
        ...(search !== undefined && { search_text: Like(`%${search.toLowerCase()}%`) }),
      },
      order: { created_at: 'DESC', id: 'DESC' },
      skip: (page - 1) * limit,
      take: limit,
    });
  }

  async get(organizationId: string, id: string): Promise<Lead> {
    const lead = await this.leads.findOne({ where: { organization_id: organizationId, id } });
    if (!lead) throw new NotFoundException();
    return lead;
  }

  create(organizationId: string, input: CreateLeadDto): Promise<Lead> {
    const lead = { ...DEFAULTS, ...input, organization_id: organizationId };
    return this.leads.save(this.leads.create(lead));
  }

  async update(organizationId: string, id: string, changes: UpdateLeadDto): Promise<Lead> {
    const lead = await this.get(organizationId, id);
    return this.leads.save(this.leads.merge(lead, changes));
  }
}
