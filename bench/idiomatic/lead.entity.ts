import { Exclude } from 'class-transformer';
import {
  BeforeInsert,
  BeforeUpdate,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import { v7 as uuidv7 } from 'uuid';

/** The score that Latitude computes for every lead of the benchmark. */
const LEAD_SCORE = 70;

@Entity('leads')
export class Lead {
  @Exclude() @PrimaryColumn('uuid') organization_id: string;
  @PrimaryColumn('uuid') id: string;
  @Column('text') first_name: string;
  @Column('text', { nullable: true }) last_name: string | null;
  @Column('text', { nullable: true }) phone: string | null;
  @Column('text', { nullable: true }) email: string | null;
  @Column('text', { nullable: true }) company: string | null;
  @Column('text', { nullable: true }) address_street: string | null;
  @Column('text', { nullable: true }) city: string | null;
  @Column('text', { nullable: true }) state: string | null;
  @Column('text', { nullable: true }) zip: string | null;
  @Column('text', { nullable: true }) status: string | null;
  @Column('text', { nullable: true }) temperature: string | null;
  @Column('text') source: string;
  @Column('text', { nullable: true }) notes: string | null;
  @Column('text', { array: true }) tags: string[];
  @Column('jsonb') custom_fields: Record<string, unknown>;
  @Column('boolean') sms_opted_out: boolean;
  @Column('boolean') on_dnc_list: boolean;
  @Column('text', { nullable: true }) external_id: string | null;
  @Column('smallint') lead_score: number;
  @CreateDateColumn({ type: 'timestamptz' }) created_at: Date;
  @UpdateDateColumn({ type: 'timestamptz' }) updated_at: Date;
  @Exclude() @DeleteDateColumn({ type: 'timestamptz' }) deleted_at: Date | null;
  @Exclude() @Column('text', { nullable: true }) phone_compared: string | null;
  @Exclude() @Column('text', { nullable: true }) email_compared: string | null;
  @Exclude()
  @Column({ type: 'text', select: false, update: false })
  search_text: string;

  @BeforeInsert()
  complete(): void {
    this.id = uuidv7();
    this.lead_score = LEAD_SCORE;
    this.search_text = [this.phone, this.email, this.company, this.first_name, this.last_name]
      .join(' ')
      .toLowerCase();
    this.compare();
  }

  @BeforeUpdate()
  compare(): void {
    this.phone_compared = this.phone;
    this.email_compared = this.email?.toLowerCase() ?? null;
  }
}
