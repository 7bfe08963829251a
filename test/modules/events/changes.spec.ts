import { randomUUID } from 'node:crypto';
import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import { RequireScope } from '../../../src/platform/http/routes/access.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { EventPublisher } from '../../../src/modules/events/event-publisher.js';
import { ChangeBus } from '../../../src/platform/data/gateway/change-bus.js';
import { RecordOf } from '../../../src/platform/fields/field.js';
import { Uuid } from '../../../src/platform/fields/kinds/kinds.js';
import { readInput } from '../../../src/platform/fields/input/read-input.js';
import { TenantRepository } from '../../../src/platform/data/records/tenant-repository.js';
import { UpdateLeadDto } from '../../../src/modules/leads/lead.dto.js';
import { Lead } from '../../../src/modules/leads/lead.entity.js';
import { LeadsModule } from '../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../src/modules/leads/leads.service.js';
import { CurrentCall } from '../../../src/platform/http/request/api-request.js';
import type { Call, InTransaction, TenantCall } from '../../../src/platform/data/call.js';
import {
  createLead,
  dataOf,
  expectError,
  LEADS,
  type LeadRecord,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

class PairDto {
  @Uuid({ required: true }) one: string;
  @Uuid({ required: true }) two: string;
}

class PairAnswerDto extends RecordOf(PairDto) {}

type Work = (leads: Leads, call: InTransaction) => Promise<unknown>;

/** The work of the route in the current test. */
let work: Work = () => Promise.resolve();

/** The leads of one transaction. */
class Leads {
  constructor(
    private readonly database: TenantDatabase,
    private readonly service: LeadsService,
    private readonly call: Call,
    readonly ids: PairDto,
  ) {}

  rename(id: string, first_name: string) {
    return this.service.update(this.call, id, readInput(UpdateLeadDto, { first_name }).value);
  }

  delete(id: string) {
    return this.service.delete(this.call, id);
  }

  /** Publishes changes in a savepoint, which is rolled back when the rest of it fails. */
  async announce(id: string, rest = () => Promise.resolve()) {
    const part = this.database.transaction(this.call, (inner) => {
      this.database.publishChange(inner, id);
      return rest();
    });
    await part.catch(() => undefined);
  }
}

/** A repository with SQL of its own, on a table that has events. */
@Injectable()
class MarkedLeads extends TenantRepository<Lead> {
  constructor(database: TenantDatabase) {
    super(database, Lead);
  }

  mark(call: TenantCall, id: string): Promise<boolean> {
    return this.writeOne(call, id, {
      text: `update leads set notes = 'marked' where ${this.isRecord} returning id`,
      values: [call.tenant.id, id],
    });
  }
}

@Injectable()
class PairsService {
  constructor(
    private readonly database: TenantDatabase,
    private readonly leads: LeadsService,
  ) {}

  async run(call: Call, ids: PairDto): Promise<PairAnswerDto> {
    await this.database.transaction(call, (inner) =>
      work(new Leads(this.database, this.leads, inner, ids), inner),
    );
    return { id: ids.one, ...ids };
  }
}

/** A route of another module, which does not know the subscribers. */
@Controller('api/v1/pairs')
class PairsController {
  constructor(private readonly pairs: PairsService) {}

  @Post()
  @RequireScope('leads:write')
  run(@CurrentCall() call: Call, @Body() pair: PairDto) {
    return this.pairs.run(call, pair);
  }
}

@Module({
  imports: [LeadsModule],
  controllers: [PairsController],
  providers: [PairsService, MarkedLeads],
})
class PairsModule {}

let app: TestApp;
let tenant: Tenant;
let one: LeadRecord;
let two: LeadRecord;
let told: string[];
let ends: (() => void)[];

beforeAll(async () => {
  app = await TestApp.start({ modules: [PairsModule] });
  tenant = await app.organization();
});
beforeEach(async () => {
  [one, two] = await Promise.all([createLead(tenant.api), createLead(tenant.api)]);
  told = [];
  const listen = (name: string, { id }: LeadRecord) =>
    app.app.get(ChangeBus).subscribe(tenant.id, id, () => told.push(name));
  await published();
  ends = [listen('one', one), listen('two', two)];
});
afterEach(() => {
  for (const end of ends) end();
});
afterAll(() => app.stop());

/** Waits until all events are published. */
const published = () => app.app.get(EventPublisher).publish();
const pathOf = ({ id }: LeadRecord) => `${LEADS}/${id}`;
const runPair = (headers = {}) =>
  tenant.api.post('/api/v1/pairs', { one: one.id, two: two.id }, { headers });

describe('a change of a record is published', () => {
  it('after an update, unless the update changes nothing', async () => {
    dataOf(await tenant.api.put(pathOf(one), { first_name: 'Grace' }));
    await published();
    expect(told).toEqual(['one']);
    dataOf(await tenant.api.put(pathOf(one), { first_name: 'Grace' }));
    await published();
    expect(told).toEqual(['one']);
  });

  it('once after a deletion', async () => {
    dataOf(await tenant.api.delete(pathOf(one)));
    expectError(await tenant.api.delete(pathOf(one)), 404, 'not_found');
    await published();
    expect(told).toEqual(['one']);
  });

  it('once after SQL of a repository that writes no event, unless no record is found', async () => {
    const marked = app.app.get(MarkedLeads, { strict: false });
    const call = await app.call(tenant);
    await expect(marked.mark(call, one.id)).resolves.toBe(true);
    await expect(marked.mark(call, randomUUID())).resolves.toBe(false);
    await published();
    expect(told).toEqual(['one']);
  });

  it('after it is visible to readers', async () => {
    const reads: Promise<unknown>[] = [];
    ends.push(
      app.app.get(ChangeBus).subscribe(tenant.id, one.id, () => {
        reads.push(tenant.api.get(pathOf(one)).then(dataOf));
      }),
    );
    dataOf(await tenant.api.put(pathOf(one), { first_name: 'Grace' }));
    await published();
    await expect(Promise.all(reads)).resolves.toMatchObject([{ first_name: 'Grace' }]);
  });

  it.each(['PUT', 'DELETE'])(
    'by %s with If-Match where it matches, and not where it does not',
    async (method) => {
      const { headers } = await tenant.api.get(pathOf(one));
      const request = (etag: string) =>
        tenant.api.request(method, pathOf(one), {
          ...(method === 'PUT' && { body: { first_name: 'Grace' } }),
          headers: { 'If-Match': etag },
        });
      expectError(await request('"another"'), 412, 'precondition_failed');
      await published();
      expect(told).toEqual([]);
      dataOf(await request(headers.get('etag')!));
      await published();
      expect(told).toEqual(['one']);
    },
  );

  it('not when an organization uses the id of a record of another organization', async () => {
    const { api } = await app.organization();
    expectError(await api.put(pathOf(one), { first_name: 'Mallory' }), 404, 'not_found');
    expectError(await api.delete(pathOf(one)), 404, 'not_found');
    await published();
    expect(told).toEqual([]);
  });
});

describe('the changes of one transaction are published', () => {
  it('together after the commit, in their order', async () => {
    let toldWithin: string[] | undefined;
    work = async (leads) => {
      await leads.rename(leads.ids.one, 'Grace');
      await leads.rename(leads.ids.one, 'Ada');
      await leads.delete(leads.ids.two);
      toldWithin = [...told];
    };
    dataOf(await runPair(), 201);
    await published();
    expect({ toldWithin, told }).toEqual({ toldWithin: [], told: ['one', 'one', 'two'] });
  });

  it('once when an Idempotency-Key is repeated', async () => {
    work = (leads) => leads.rename(leads.ids.one, 'Grace');
    const headers = { 'Idempotency-Key': randomUUID() };
    dataOf(await runPair(headers), 201);
    dataOf(await runPair(headers), 201);
    await published();
    expect(told).toEqual(['one']);
  });

  it.each([
    ['a transaction', {}],
    ['a request with an Idempotency-Key', { 'Idempotency-Key': 'fails' }],
  ])('not when %s fails', async (_, headers) => {
    work = async (leads) => {
      await leads.rename(leads.ids.one, 'Grace');
      await leads.delete(leads.ids.two);
      throw new Error('for a test');
    };
    expectError(await runPair(headers), 500, 'internal_error');
    await published();
    expect(told).toEqual([]);
  });

  it('not when a unique violation aborts it', async () => {
    dataOf(await tenant.api.put(pathOf(two), { email: 'ada@example.com' }));
    await published();
    told = [];
    work = async (leads, { transaction }) => {
      await leads.rename(leads.ids.one, 'Grace');
      await transaction.query({
        text: `update leads set email_compared = 'ada@example.com'
          where organization_id = $1 and id = $2`,
        values: [tenant.id, leads.ids.one],
      });
    };
    expect((await runPair()).status).toBeGreaterThanOrEqual(400);
    await published();
    expect(told).toEqual([]);
  });

  it('without those of a savepoint that was rolled back', async () => {
    work = async (leads) => {
      await leads.rename(leads.ids.two, 'Grace');
      await leads.announce(leads.ids.one, () => Promise.reject(new Error('for a test')));
    };
    dataOf(await runPair(), 201);
    await published();
    expect(told).toEqual(['two']);
  });

  it('with those that a module publishes for its own SQL', async () => {
    let toldWithin: string[] | undefined;
    work = async (leads) => {
      await leads.announce(leads.ids.one);
      toldWithin = [...told];
    };
    dataOf(await runPair(), 201);
    await published();
    expect({ toldWithin, told }).toEqual({ toldWithin: [], told: ['one'] });
  });

  it('once when PostgreSQL aborted it and it was retried', async () => {
    let attempts = 0;
    work = async (leads, { transaction }) => {
      attempts++;
      // Changes of only the failed attempt are not published.
      if (attempts === 1) await leads.delete(leads.ids.two);
      await leads.rename(leads.ids.one, 'Grace');
      if (attempts > 1) return;
      const text = `do $$ begin raise exception 'for a test' using errcode = '40P01'; end $$`;
      await transaction.query({ text, values: [], plan: 'custom' });
    };
    dataOf(await runPair(), 201);
    await published();
    expect({ attempts, told }).toEqual({ attempts: 2, told: ['one'] });
  });
});
