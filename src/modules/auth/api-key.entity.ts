import type { Confirmations } from '../../platform/data/call.js';
import { Exclude } from 'class-transformer';
import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn, Unique } from 'typeorm';
import { Organization } from './organization.entity.js';

/** A row of the table of API keys. It has the hash and the first characters of a key, never the key itself. */
@Entity('api_keys')
@Unique(['key_hash'])
@Index('api_keys_by_organization', ['organization_id', 'id'])
export class ApiKey {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') organization_id: string;
  @ManyToOne(() => Organization, { nullable: false })
  @JoinColumn({ name: 'organization_id' })
  organization?: Organization;
  @Column('text') name: string;
  @Exclude()
  @Column('bytea', { select: false })
  key_hash: Buffer;
  @Column('text') key_start: string;
  @Column('text', { array: true }) scopes: string[];
  /** The user that is stored as the author of records that this key creates. */
  @Column('uuid', { nullable: true }) user_id: string | null;
  @Column('timestamp with time zone', { precision: 3, default: () => 'now()' }) created_at: Date;
  @Column('timestamp with time zone', { precision: 3, nullable: true }) expires_at: Date | null;
  @Column('timestamp with time zone', { precision: 3, nullable: true }) last_used_at: Date | null;
  @Column('timestamp with time zone', { precision: 3, nullable: true }) revoked_at: Date | null;
  /**
   * The lifetime that it was made with, which rotations keep: 0 if it does not expire. Null if an earlier release made it and
   * it was not rotated since.
   */
  @Column('bigint', { nullable: true, select: false }) lifetime_ms?: number | null;
  /**
   * The keys that this one depends on: the key that made it, and those which that one depends on. This key is revoked
   * with any of them, and expires no later.
   */
  @Column('uuid', { array: true, default: () => "'{}'" }) ends_with: string[];
  /** Whether tools of /mcp ask the user before they delete, cancel or merge. */
  @Column('text', { default: 'never' }) confirmations: Confirmations;
  /** The key that has replaced this one in a rotation. */
  @Column('uuid', { nullable: true }) successor_id: string | null;
}
