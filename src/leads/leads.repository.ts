import { Injectable } from '@nestjs/common';
import { deleteOne, insertOne, type Row, selectOne, updateOne } from '../database/statements.js';
import { TenantDatabase } from '../database/tenant-database.js';
import { namesOf } from '../fields/field.js';
import { Conditions, type ListRow, listStatement, toPage } from '../listing/list-statement.js';
import type { Page } from '../listing/page.js';
import { addSearch } from '../listing/search.js';
import { LeadDto, LeadListItemDto, type LeadListQuery } from './lead.dto.js';

const TABLE = 'leads';
const COLUMNS = namesOf(LeadDto);
const LIST_COLUMNS = namesOf(LeadListItemDto);

/** The compared forms of a lead's contact fields. */
export interface ContactIdentity {
  readonly email_compared: string | null;
  readonly phone_compared: string | null;
}

/** A live lead that has the same e-mail or phone. */
export interface Twin {
  id: string;
  same_email: boolean;
  same_phone: boolean;
}

/** All SQL of leads. */
@Injectable()
export class LeadsRepository {
  constructor(private readonly database: TenantDatabase) {}

  async list(organizationId: string, query: LeadListQuery): Promise<Page<LeadListItemDto>> {
    const conditions = new Conditions('deleted_at is null')
      .add('organization_id = ?', organizationId)
      .add('status = ?', query.status)
      .add('temperature = ?', query.temperature)
      .add('created_at >= ?', query.created_after)
      .add('created_at < ?', query.created_before);
    addSearch(conditions, query.search);
    const sort = { column: query.sort_by, nullable: query.sort_by === 'last_name' };
    const source = { table: TABLE, columns: LIST_COLUMNS, sort };
    const rows = await this.database.read<ListRow<LeadListItemDto>>(organizationId, {
      ...listStatement(source, conditions, query),
      plan: query.search === undefined ? 'prepared' : 'custom',
    });
    return toPage(rows, query);
  }

  async find(organizationId: string, id: string): Promise<LeadDto | undefined> {
    const statement = selectOne(TABLE, COLUMNS, [organizationId, id]);
    const [lead] = await this.database.read<LeadDto>(organizationId, statement);
    return lead;
  }

  /** @throws UniqueViolation for an e-mail or phone that another live lead has */
  async insert(organizationId: string, row: Row): Promise<LeadDto> {
    const statement = insertOne(TABLE, { organization_id: organizationId, ...row }, COLUMNS);
    const [lead] = (await this.database.write<LeadDto>(organizationId, statement)) as [LeadDto];
    return lead;
  }

  /**
   * Changes a lead by what `revise` makes of it while no one else can; undefined changes nothing.
   * @throws UniqueViolation for an e-mail or phone that another live lead has
   */
  update(
    organizationId: string,
    id: string,
    revise: (stored: LeadDto) => Row | undefined,
  ): Promise<LeadDto | undefined> {
    const key = [organizationId, id] as const;
    return this.database.transaction(organizationId, async (transaction) => {
      const [stored] = await transaction.query<LeadDto>(
        selectOne(TABLE, COLUMNS, key, 'for update'),
      );
      const changes = stored && revise(stored);
      if (!changes) return stored;
      const [updated] = await transaction.query<LeadDto>(updateOne(TABLE, changes, key, COLUMNS));
      return updated;
    });
  }

  /** @returns whether there was such a lead */
  async delete(organizationId: string, id: string): Promise<boolean> {
    const rows = await this.database.write(organizationId, deleteOne(TABLE, [organizationId, id]));
    return rows.length > 0;
  }

  /** The live leads that have one of these contact forms. */
  findTwins(organizationId: string, identity: ContactIdentity): Promise<Twin[]> {
    return this.database.read<Twin>(organizationId, {
      text: `select id, coalesce(email_compared = $2, false) as same_email,
          coalesce(phone_compared = $3, false) as same_phone
        from ${TABLE} where organization_id = $1 and deleted_at is null
          and (email_compared = $2 or phone_compared = $3)`,
      values: [organizationId, identity.email_compared, identity.phone_compared],
    });
  }
}
