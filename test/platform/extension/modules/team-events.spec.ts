import { randomUUID } from 'node:crypto';
import { Injectable, Module } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { TenantCall } from '../../../../src/platform/data/call.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { TenantEntity } from '../../../../src/platform/data/records/tenant-entity.js';
import {
  createTenantTable,
  dropTenantTable,
} from '../../../../src/platform/data/records/tenant-table.js';
import { TenantRepository } from '../../../../src/platform/data/records/tenant-repository.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { readAllEvents } from '../../../support/events.js';

/** Fields with the names of parts of an event. */
class CallDto extends IdDto {
  @Text({ max: 20, required: true }) type: string;
  @Text({ max: 20, required: true }) channel: string;
  @Text({ max: 20 }) request_id: string | null;
}

@TenantEntity('calls', {
  events: { name: 'call', transitions: { ended: { type: 'ended' } } },
})
class PhoneCall extends CallDto {}

class Calls1800000000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    const columns = ['type text not null', 'channel text not null', 'request_id text'];
    return createTenantTable(runner, PhoneCall, columns);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTenantTable(runner, PhoneCall);
  }
}

@Injectable()
class CallsRepository extends TenantRepository<PhoneCall> {
  constructor(database: TenantDatabase) {
    super(database, PhoneCall);
  }

  async add(call: TenantCall): Promise<string> {
    const row = { id: randomUUID(), type: 'started', channel: 'phone', request_id: null };
    await this.insertRow(call, row);
    return row.id;
  }
}

@Module({ providers: [CallsRepository] })
class CallsModule {}

const callsExtension = defineExtension({
  name: 'acme-calls',
  compatibleWith: '*',
  module: CallsModule,
  scopes: ['calls:read', 'calls:write'],
  migrations: [Calls1800000000000],
  entities: [PhoneCall],
});

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start({ extensions: [callsExtension] });
});
afterAll(() => app.stop());

describe('a table of an extension that declares events', () => {
  it('writes one event for each change', async () => {
    const { id, api } = await app.organization();
    const calls = app.app.get(CallsRepository);
    const call = { tenant: { id } };
    const callId = await calls.add(call);
    await calls.update(call, callId, () => ({ channel: 'video' }));
    await calls.update(call, callId, () => ({ type: 'ended' }));
    await calls.delete(call, callId);

    const events = await readAllEvents(api, 4);
    expect(events.map(({ type, changed, record }) => ({ type, changed, record }))).toEqual([
      { type: 'call.created', changed: [], record: callWith(callId) },
      { type: 'call.updated', changed: ['channel'], record: callWith(callId, 'video') },
      { type: 'call.ended', changed: ['type'], record: callWith(callId, 'video', 'ended') },
      { type: 'call.deleted', changed: [], record: callWith(callId, 'video', 'ended') },
    ]);
  });

  it('writes an event for an update with values, unless the record has all of them', async () => {
    const { id, api } = await app.organization();
    const calls = app.app.get(CallsRepository);
    const call = { tenant: { id } };
    const callId = await calls.add(call);
    await calls.update(call, callId, { channel: 'phone', type: undefined });
    await calls.update(call, callId, {});
    await calls.update(call, callId, () => ({ channel: 'video', type: undefined }));
    await calls.update(call, callId, { channel: 'video', request_id: null });
    expect(await calls.update(call, randomUUID(), { channel: 'video' })).toBeUndefined();

    const events = await readAllEvents(api, 2);
    expect(events.map(({ type, changed, record }) => ({ type, changed, record }))).toEqual([
      { type: 'call.created', changed: [], record: callWith(callId) },
      { type: 'call.updated', changed: ['channel'], record: callWith(callId, 'video') },
    ]);
  });

  it('loses no concurrent update, although its records have no updated_at', async () => {
    const { id } = await app.organization();
    const calls = app.app.get(CallsRepository);
    const call = { tenant: { id } };
    const callId = await calls.add(call);
    const letters = [...'abcdefgh'];
    await Promise.all(
      letters.map((letter) =>
        calls.update(call, callId, ({ channel }) => ({ channel: channel + letter })),
      ),
    );
    const { channel } = (await calls.find(call, callId))!;
    expect([...channel.slice('phone'.length)].sort()).toEqual(letters);
  });
});

function callWith(id: string, channel = 'phone', type = 'started') {
  return { id, type, channel, request_id: null };
}
