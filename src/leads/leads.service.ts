import { Inject, Injectable, Optional } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { UniqueViolation } from '../database/driver-error.js';
import { ApiError } from '../errors/api-error.js';
import { realChanges } from '../fields/changes.js';
import { namesOf } from '../fields/field.js';
import type { Page } from '../listing/page.js';
import type { Actor } from '../tenancy/actor.js';
import { comparedEmail, comparedPhone } from './contact-identity.js';
import {
  CreateLeadDto,
  type LeadDto,
  type LeadListItemDto,
  type LeadListQuery,
  type UpdateLeadDto,
} from './lead.dto.js';
import { DefaultLeadScorer, LeadScorer, type ScorableLead } from './lead-scorer.js';
import { type ContactIdentity, LeadsRepository } from './leads.repository.js';

const FIELDS = namesOf(CreateLeadDto);

/** The rules of leads (api.md 2.1 and 4.3, decisions 3). */
@Injectable()
export class LeadsService {
  constructor(
    private readonly repository: LeadsRepository,
    @Optional() @Inject(LeadScorer) private readonly scorer: LeadScorer = new DefaultLeadScorer(),
  ) {}

  /** @throws ApiError `query_failed` */
  list(actor: Actor, query: LeadListQuery): Promise<Page<LeadListItemDto>> {
    return this.repository.list(actor.organization.id, query);
  }

  /** @throws ApiError `not_found` */
  async get(actor: Actor, id: string): Promise<LeadDto> {
    return found(await this.repository.find(actor.organization.id, id));
  }

  /** @throws ApiError `duplicate`, `create_failed` */
  create(actor: Actor, input: CreateLeadDto): Promise<LeadDto> {
    const row = { id: uuidv7(), ...this.toRow(actor, complete(input)) };
    return this.explainDuplicates(actor, row, () =>
      this.repository.insert(actor.organization.id, row),
    );
  }

  /** @throws ApiError `not_found`, `duplicate`, `create_failed` */
  async update(actor: Actor, id: string, input: UpdateLeadDto): Promise<LeadDto> {
    const identity = identityOf(actor, input);
    const revise = (stored: LeadDto) => {
      const changes = realChanges(stored, input);
      return changes && this.toRow(actor, complete({ ...stored, ...changes }));
    };
    return found(
      await this.explainDuplicates(actor, identity, () =>
        this.repository.update(actor.organization.id, id, revise),
      ),
    );
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async delete(actor: Actor, id: string): Promise<{ id: string; deleted: true }> {
    if (!(await this.repository.delete(actor.organization.id, id))) throw noSuchLead();
    return { id, deleted: true };
  }

  private toRow(actor: Actor, lead: ScorableLead) {
    return { ...lead, ...identityOf(actor, lead), lead_score: this.scorer.score(lead) };
  }

  /** Names the fields that another lead has, and that lead to those who may read it. */
  private async explainDuplicates<T>(
    actor: Actor,
    identity: ContactIdentity,
    write: () => Promise<T>,
  ): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      const twins = await this.repository.findTwins(actor.organization.id, identity);
      const mayRead = actor.scopes.has('leads:read');
      const detail = (field: 'email' | 'phone', twin?: { id: string }) => ({
        field,
        message: 'belongs to another lead',
        ...(twin && mayRead && { existing_id: twin.id }),
      });
      const details = [
        ...twins.filter((twin) => twin.same_email).map((twin) => detail('email', twin)),
        ...twins.filter((twin) => twin.same_phone).map((twin) => detail('phone', twin)),
      ];
      // The other lead may be gone by now; the index still says which field it was.
      const field = error.constraint.includes('email') ? 'email' : 'phone';
      throw duplicate(details.length > 0 ? details : [detail(field)]);
    }
  }
}

/** The writable fields of a lead, unset ones as null. */
function complete(input: CreateLeadDto): ScorableLead {
  const given = input as unknown as Record<string, unknown>;
  const entries = FIELDS.map((name) => [name, given[name] ?? null]);
  return Object.fromEntries(entries) as ScorableLead;
}

function identityOf(actor: Actor, { email, phone }: UpdateLeadDto): ContactIdentity {
  return {
    email_compared: email ? comparedEmail(email) : null,
    phone_compared: phone ? comparedPhone(phone, actor.organization.phoneRegion) : null,
  };
}

function duplicate(details: { field: string; message: string; existing_id?: string }[]): ApiError {
  const fields = [...new Set(details.map(({ field }) => field))].join(' and ');
  return new ApiError('duplicate', { message: `Another lead has this ${fields}.`, details });
}

function noSuchLead(): ApiError {
  return new ApiError('not_found', { message: 'There is no such lead.' });
}

function found(lead: LeadDto | undefined): LeadDto {
  if (lead) return lead;
  throw noSuchLead();
}
