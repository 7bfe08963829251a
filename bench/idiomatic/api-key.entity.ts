import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('api_keys')
export class ApiKey {
  @PrimaryColumn('uuid') id: string;
  @Column('uuid') organization_id: string;
  @Column('bytea') key_hash: Buffer;
  @Column('text', { array: true }) scopes: string[];
  @Column('timestamptz', { nullable: true }) revoked_at: Date | null;
}
