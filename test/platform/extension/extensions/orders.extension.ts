import { Body, Controller, Get, Injectable, Module, Post, Put, Query } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { RequireScope } from '../../../../src/platform/http/routes/access.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { TenantEntity } from '../../../../src/platform/data/records/tenant-entity.js';
import {
  createTenantTable,
  dropTenantTable,
} from '../../../../src/platform/data/records/tenant-table.js';
import { TenantRepository } from '../../../../src/platform/data/records/tenant-repository.js';
import { orNotFound } from '../../../../src/platform/errors/or-not-found.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { changedFields, nullsForMissing } from '../../../../src/platform/fields/changes.js';
import { Decimal } from '../../../../src/platform/fields/kinds/decimal.js';
import { RecordOf, UpdateOf } from '../../../../src/platform/fields/field.js';
import { DateTime, Integer, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { Nested, NestedList } from '../../../../src/platform/fields/nested.js';
import { CreatedAt, UpdatedAt } from '../../../../src/platform/fields/kinds/record-fields.js';
import { ApiRoute } from '../../../../src/platform/http/routes/api-route.decorator.js';
import { CurrentCall } from '../../../../src/platform/http/request/api-request.js';
import { Id } from '../../../../src/platform/http/request/id.decorator.js';
import { ListQuery, SortBy } from '../../../../src/platform/data/lists/list-query.js';
import { Conditions } from '../../../../src/platform/data/lists/conditions.js';
import { RecordList } from '../../../../src/platform/data/lists/record-list.js';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import type { Call } from '../../../../src/platform/data/call.js';

class ItemDto {
  @Text({ max: 20, required: true, example: 'Pen' }) name: string;
  @Decimal({ precision: 12, scale: 2, min: 0, required: true, example: '1.20' }) price: string;
  @Integer({ min: 1, max: 99, default: 1, example: 2 }) quantity?: number;
}

class AddressDto {
  @Text({ max: 50, required: true, example: 'Bern' }) city: string;
  @Text({ max: 10 }) zip?: string | null;
  @DateTime() since?: Date | null;
}

class CreateOrderDto {
  @Decimal({ precision: 20, scale: 2, required: true, description: 'The sum.', example: '12.50' })
  total: string;
  @Decimal({ precision: 6, scale: 3, min: 0, max: 100 }) discount?: string | null;
  @Nested(AddressDto, { description: 'Where to send it.' }) address?: AddressDto | null;
  @NestedList(ItemDto, { max: 3, description: 'What to send.' }) items?: ItemDto[];
}

class UpdateOrderDto extends UpdateOf(CreateOrderDto) {}

export class OrderDto extends RecordOf(CreateOrderDto) {
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

class OrderListQuery extends ListQuery {
  @SortBy(['total'], 'total') sort_by: string;
}

@TenantEntity('orders', { sorts: ['total'] })
export class Order extends OrderDto {}

class Orders1800000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createTenantTable(runner, Order, [
      'total numeric(20, 2) not null',
      'discount numeric(6, 3)',
      'address jsonb',
      `items jsonb not null default '[]'`,
    ]);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTenantTable(runner, Order);
  }
}

/** What a service has read: the type of the time in the address. */
export const readTypes: string[] = [];

@Injectable()
class OrdersRepository extends TenantRepository<Order> {
  private readonly items: RecordList<OrderDto>;

  constructor(database: TenantDatabase) {
    super(database, Order);
    this.items = new RecordList(database, { entity: Order, query: OrderListQuery });
  }

  list(call: Call, query: OrderListQuery) {
    return this.items.page(new Conditions(call, this.table.notDeleted), query);
  }

  @Tool('create_order', {
    title: 'Create an order',
    description: 'Create an order.',
    effect: 'creates',
    scope: 'orders:write',
    input: CreateOrderDto,
    output: OrderDto,
  })
  async create(call: Call, order: CreateOrderDto): Promise<OrderDto> {
    const row = { id: uuidv7(), ...nullsForMissing(CreateOrderDto, order) };
    return orNotFound(await this.insertRow(call, row), 'order');
  }

  async change(call: Call, id: string, input: UpdateOrderDto): Promise<OrderDto> {
    const changed = await this.update(call, id, (stored) => {
      const since = stored.address?.since;
      readTypes.push(since instanceof Date ? 'Date' : typeof since);
      return changedFields(stored, input);
    });
    return orNotFound(changed, 'order');
  }
}

@Controller('api/v1/orders')
class OrdersController {
  constructor(private readonly orders: OrdersRepository) {}

  @Get()
  @RequireScope('orders:read')
  @ApiRoute({ summary: 'List orders', response: [OrderDto] })
  list(@CurrentCall() call: Call, @Query() query: OrderListQuery) {
    return this.orders.list(call, query);
  }

  @Get(':id')
  @RequireScope('orders:read')
  @ApiRoute({ summary: 'Get an order', response: OrderDto })
  async get(@CurrentCall() call: Call, @Id() id: string): Promise<OrderDto> {
    return orNotFound(await this.orders.find(call, id), 'order');
  }

  @Post()
  @RequireScope('orders:write')
  @ApiRoute({ summary: 'Create an order', response: OrderDto })
  create(@CurrentCall() call: Call, @Body() order: CreateOrderDto): Promise<OrderDto> {
    return this.orders.create(call, order);
  }

  @Put(':id')
  @RequireScope('orders:write')
  @ApiRoute({ summary: 'Update an order', response: OrderDto })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateOrderDto) {
    return this.orders.change(call, id, changes);
  }
}

@Module({ controllers: [OrdersController], providers: [OrdersRepository] })
class OrdersModule {}

/** An extension whose records have decimals and nested objects. */
export const ordersExtension = defineExtension({
  name: 'acme-orders',
  module: OrdersModule,
  scopes: ['orders:read', 'orders:write'],
  migrations: [Orders1800000000000],
  entities: [Order],
});

declare module '../../../../src/platform/config/registered-extensions.js' {
  interface RegisteredExtensions {
    'acme-orders': typeof ordersExtension;
  }
}
