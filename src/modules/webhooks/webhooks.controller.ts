import { Body, Delete, Get, HttpCode, Post, Put, Query } from '@nestjs/common';
import { RequireScope } from '../../platform/http/routes/access.js';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { CheckBody, NoBody } from '../../platform/http/routes/handler-declarations.js';
import type { Call } from '../../platform/data/call.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveryDto, DeliveryListQuery } from './delivery.dto.js';
import {
  CreateWebhookDto,
  UpdateWebhookDto,
  WebhookDto,
  WebhookWithSecretDto,
} from './webhook.dto.js';
import { WebhooksService } from './webhooks.service.js';
import { ListQuery } from '../../platform/data/lists/list-query.js';

/** Webhooks over REST (docs/contract/webhooks.md). */
@ApiController('webhooks', 'Webhooks', 'Where events are sent, by Standard Webhooks.')
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly deliveries: DeliveriesService,
  ) {}

  @Get()
  @RequireScope('webhooks:read')
  @ApiRoute({ summary: 'List webhooks', response: [WebhookDto] })
  list(@CurrentCall() call: Call, @Query() query: ListQuery) {
    return this.webhooks.list(call, query);
  }

  @Get(':id')
  @RequireScope('webhooks:read')
  @ApiRoute({ summary: 'Get a webhook', response: WebhookDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.webhooks.get(call, id);
  }

  @Post()
  @RequireScope('webhooks:write')
  @CheckBody(WebhooksService)
  @ApiRoute({
    summary: 'Create a webhook',
    description: 'The secret is shown only in this response.',
    response: WebhookWithSecretDto,
    errors: ['too_many_webhooks'],
  })
  create(@CurrentCall() call: Call, @Body() webhook: CreateWebhookDto) {
    return this.webhooks.create(call, webhook);
  }

  @Put(':id')
  @RequireScope('webhooks:write')
  @ApiRoute({
    summary: 'Update a webhook',
    description: 'Another URL or other types need the read scopes of all types.',
    response: WebhookDto,
  })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateWebhookDto) {
    return this.webhooks.update(call, id, changes);
  }

  @Delete(':id')
  @RequireScope('webhooks:write')
  @ApiRoute({
    summary: 'Delete a webhook',
    description: 'Its deliveries are removed.',
    response: DeletedDto,
  })
  delete(@CurrentCall() call: Call, @Id() id: string) {
    return this.webhooks.delete(call, id);
  }

  @Post(':id/rotate-secret')
  @NoBody()
  @HttpCode(200)
  @RequireScope('webhooks:write')
  @ApiRoute({
    summary: 'Replace the secret of a webhook',
    description: 'For 24 hours, events have signatures of both secrets.',
    response: WebhookWithSecretDto,
  })
  rotateSecret(@CurrentCall() call: Call, @Id() id: string) {
    return this.webhooks.rotateSecret(call, id);
  }

  @Post(':id/test')
  @NoBody()
  @HttpCode(202)
  @RequireScope('webhooks:write')
  @ApiRoute({
    summary: 'Send a test event',
    description:
      'The event is sent once, after this response. The list of deliveries has the outcome.',
    response: DeliveryDto,
    errors: ['webhook_disabled'],
  })
  test(@CurrentCall() call: Call, @Id() id: string) {
    return this.deliveries.test(call, id);
  }

  @Get(':id/deliveries')
  @RequireScope('webhooks:read')
  @ApiRoute({ summary: 'List the deliveries of a webhook', response: [DeliveryDto] })
  listDeliveries(@CurrentCall() call: Call, @Id() id: string, @Query() query: DeliveryListQuery) {
    return this.deliveries.list(call, id, query);
  }

  @Post(':id/deliveries/:delivery_id/redeliver')
  @NoBody()
  @HttpCode(202)
  @RequireScope('webhooks:write')
  @ApiRoute({
    summary: 'Send an event again',
    description:
      'A pending delivery is attempted at once, another one after the pending ones of its record.',
    response: DeliveryDto,
    errors: ['webhook_disabled'],
  })
  redeliver(@CurrentCall() call: Call, @Id() id: string, @Id('delivery_id') deliveryId: string) {
    return this.deliveries.redeliver(call, id, deliveryId);
  }
}
