import { Injectable } from '@nestjs/common';
import type { TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { TenantRepository } from '../../platform/data/records/tenant-repository.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { Page } from '../../platform/data/lists/page.js';
import { RecordList } from '../../platform/data/lists/record-list.js';
import type { DeliveryDto, DeliveryListQuery } from './delivery.dto.js';
import { Delivery } from './delivery.entity.js';

/** How long deliveries are kept. */
const RETENTION = `interval '30 days'`;

/** Rows that one statement removes. Small batches keep locks short. */
const BATCH = 1_000;

/** SQL that shows and removes deliveries. */
@Injectable()
export class DeliveriesRepository extends TenantRepository<Delivery> {
  private readonly items: RecordList<DeliveryDto>;

  constructor(database: TenantDatabase) {
    super(database, Delivery);
    this.items = new RecordList(database, { entity: Delivery });
  }

  /** @throws ApiError `query_failed` */
  list(
    call: TenantCall,
    webhookId: string,
    { status, ...query }: DeliveryListQuery,
  ): Promise<Page<DeliveryDto>> {
    const conditions = new Conditions(call, this.table.notDeleted)
      .equal('webhook_id', webhookId, 'uuid')
      .equal('status', status);
    return this.items.page(conditions, query);
  }

  /**
   * Removes the deliveries of an organization that are older than 30 days.
   * @throws ApiError `create_failed`
   */
  async removeOld(call: TenantCall): Promise<void> {
    let removed: number;
    do {
      const rows = await this.database.write(call, {
        text: `delete from webhook_deliveries where organization_id = $1 and id = any(array(
            select id from webhook_deliveries
            where organization_id = $1 and created_at < now() - ${RETENTION} limit ${BATCH}))
          returning 1`,
        values: [call.tenant.id],
      });
      removed = rows.length;
    } while (removed === BATCH);
  }
}
