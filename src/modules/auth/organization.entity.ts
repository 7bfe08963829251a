import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UnknownFields } from '../../platform/data/call.js';

/** A tenant: the owner of records and of the keys that reach them. */
@Entity('organizations')
@Index('organizations_by_operator', ['operator_id', 'created_at', 'id'], {
  where: 'operator_id is not null',
})
export class Organization {
  @PrimaryColumn('uuid') id: string;
  @Column('text') name: string;
  /**
   * Region that national phone numbers are read by, ISO 3166-1 alpha-2. Only release 0.3.0 uses the default of the column;
   * that of new organizations is in `organization_defaults`.
   */
  @Column('char', { length: 2, default: 'US' }) phone_region: string;
  /** The zone of its days, by a name that PostgreSQL and Node.js know. No stored value depends on it. */
  @Column('text', { default: 'UTC' }) time_zone: string;
  /** Whether requests may set keys of custom fields that no definition has. */
  @Column('text', { default: 'allow' }) unknown_fields: UnknownFields;
  /** Grows with each change of the definitions of custom fields. */
  @Column('integer', { default: 0, select: false }) definitions_version?: number;
  /** Whether it has asked for likely duplicates, so that the forms of its leads are kept. */
  @Column('boolean', { default: false, select: false }) finds_duplicates?: boolean;
  /** Whether its keys are refused, and what it sends is held. */
  @Column('boolean', { default: false }) suspended: boolean;
  @Column('timestamp with time zone', { precision: 3, default: () => 'now()' }) created_at: Date;
  /** The operator that has created it over REST. Commands print organizations without it. */
  @Column('uuid', { nullable: true, select: false }) operator_id?: string | null;
}
