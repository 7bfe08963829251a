import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import { ListedRepository } from '../../platform/data/lists/listed-repository.js';
import { ResourceListQuery } from './resource.dto.js';
import { Resource } from './resource.entity.js';

/** SQL of resources. */
@Injectable()
export class ResourcesRepository extends ListedRepository<Resource, ResourceListQuery> {
  constructor(database: TenantDatabase) {
    super(database, { entity: Resource, query: ResourceListQuery });
  }

  protected conditionsOf(call: Call, query: ResourceListQuery) {
    return new Conditions(call, this.table.notDeleted)
      .equal('user_id', query.user_id, 'uuid')
      .add('active = ?', query.active)
      .updatedWithin(query);
  }
}
