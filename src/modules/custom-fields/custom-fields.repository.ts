import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { Page } from '../../platform/data/lists/page.js';
import { RecordList } from '../../platform/data/lists/record-list.js';
import { TenantRepository } from '../../platform/data/records/tenant-repository.js';
import type { CustomFieldDto } from './custom-field.dto.js';
import { CustomField } from './custom-field.entity.js';

/** SQL of definitions of custom fields, as responses have them. */
@Injectable()
export class CustomFieldsRepository extends TenantRepository<CustomField> {
  private readonly items = new RecordList<CustomFieldDto>(this.database, { entity: CustomField });

  constructor(database: TenantDatabase) {
    super(database, CustomField);
  }

  /** @throws ApiError `query_failed` */
  list(call: TenantCall, query: ListQuery): Promise<Page<CustomFieldDto>> {
    return this.items.page(new Conditions(call, this.table.notDeleted), query);
  }

  /**
   * Tells all instances that the definitions of the organization have changed.
   * @returns the new version
   * @throws ApiError `create_failed`
   */
  async advanceVersion(call: InTransaction): Promise<number> {
    const [row] = await call.transaction.query<{ definitions_version: number }>({
      text: `with own as (select id from organizations where id = $1)
        update organizations organization set definitions_version = definitions_version + 1
        from own where organization.id = own.id returning definitions_version`,
      values: [call.tenant.id],
    });
    return row?.definitions_version ?? 0;
  }
}
