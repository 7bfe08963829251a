import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { NOW } from '../../platform/data/records/now.js';
import type { Source, Temperature } from './lead.dto.js';

@Entity('leads')
@Index('leads_email_key', { synchronize: false })
@Index('leads_phone_key', { synchronize: false })
@Index('leads_by_created_at', { synchronize: false })
@Index('leads_by_updated_at', { synchronize: false })
@Index('leads_sorted_by_first_name', { synchronize: false })
@Index('leads_sorted_by_last_name', { synchronize: false })
@Index('leads_sorted_by_last_name_desc', { synchronize: false })
@Index('leads_by_lead_score', { synchronize: false })
@Index('leads_by_status', { synchronize: false })
@Index('leads_by_temperature', { synchronize: false })
@Index('leads_search', { synchronize: false })
@Index('leads_to_refill', { synchronize: false })
@Index('leads_deleted', { synchronize: false })
export class Lead {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'leads_pkey' }) organization_id: string;
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'leads_pkey' }) id: string;
  @ManyToOne(() => Organization)
  @JoinColumn({
    name: 'organization_id',
    foreignKeyConstraintName: 'leads_organization_id_fkey',
  })
  organization?: Organization;
  @Column({ type: 'text', collation: 'C' }) first_name: string;
  @Column({ type: 'text', collation: 'C', nullable: true }) last_name: string | null;
  @Column('text', { nullable: true }) phone: string | null;
  @Column('text', { nullable: true }) email: string | null;
  @Column('text', { nullable: true }) company: string | null;
  @Column('text', { nullable: true }) address_street: string | null;
  @Column('text', { nullable: true }) city: string | null;
  @Column('text', { nullable: true }) state: string | null;
  @Column('text', { nullable: true }) zip: string | null;
  @Column('text', { nullable: true }) status: string | null;
  @Column('text', { nullable: true }) temperature: Temperature | null;
  @Column('text') source: Source;
  @Column('text', { nullable: true }) notes: string | null;
  @Column('text', { array: true }) tags: string[];
  @Column('jsonb') custom_fields: Record<string, unknown>;
  @Column('smallint') lead_score: number;
  @Column('timestamp with time zone', { precision: 3, default: NOW }) created_at: Date;
  @Column('timestamp with time zone', { precision: 3, default: NOW }) updated_at: Date;
  @Column('boolean') sms_opted_out: boolean;
  @Column('boolean') on_dnc_list: boolean;
  @Column('timestamp with time zone', { precision: 3, nullable: true }) deleted_at: Date | null;
  /** Normalized phone and e-mail, which are unique in an organization. */
  @Column('text', { nullable: true }) phone_compared: string | null;
  @Column('text', { nullable: true }) email_compared: string | null;
  /** The text that a search matches. Without it, a write leaves it to LeadRefillService. */
  @Column('text', { select: false })
  search_text: string;
}
