import { Column, ForeignKey, Index } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { LEAD_SORTS, LeadDto } from './lead.dto.js';

/**
 * A lead. Its fields are those of its responses. Migrations declare the indexes with `synchronize: false`, because they
 * have conditions or expressions. Their names are here so that TypeORM does not remove them.
 */
@TenantEntity('leads', {
  counted: ['status', 'temperature', 'source'],
  sorts: LEAD_SORTS,
  updateTimes: true,
  events: { name: 'lead' },
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('leads_email_key', { synchronize: false })
@Index('leads_phone_key', { synchronize: false })
@Index('leads_external_id_key', { synchronize: false })
@Index('leads_by_created_at', { synchronize: false })
@Index('leads_sorted_by_first_name', { synchronize: false })
@Index('leads_sorted_by_last_name', { synchronize: false })
@Index('leads_sorted_by_last_name_desc', { synchronize: false })
@Index('leads_by_lead_score', { synchronize: false })
@Index('leads_by_status', { synchronize: false })
@Index('leads_by_temperature', { synchronize: false })
@Index('leads_by_source', { synchronize: false })
@Index('leads_by_tags', { synchronize: false })
@Index('leads_search', { synchronize: false })
@Index('leads_to_refill', { synchronize: false })
@Index('leads_deleted', { synchronize: false })
@Index('leads_merged', { synchronize: false })
export class Lead extends LeadDto {
  /** The normalized phone, which is unique in an organization. */
  @Column('text', { nullable: true, select: false }) phone_compared?: string | null;
  /** The normalized e-mail, which is unique in an organization. */
  @Column('text', { nullable: true, select: false }) email_compared?: string | null;
  /** The text that a search matches. If a write does not give it, such as one by SQL, ContactIdentityService writes it later. */
  @Column('text', { select: false }) search_text?: string;
  /** The lead that a deleted one was merged into. It can have been removed since. */
  @Column('uuid', { nullable: true, select: false }) merged_into?: string | null;
  /** The tags in lower case, each between separators. A trigger writes it. */
  @Column({ type: 'text', nullable: true, select: false, insert: false, update: false })
  tags_folded?: string | null;
}
