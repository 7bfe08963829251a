import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Controller, Injectable, Module, Post } from '@nestjs/common';
import { RequireScope } from '../../../src/platform/http/routes/access.js';
import { logger } from '../../../src/platform/config/logger.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { readInput } from '../../../src/platform/fields/input/read-input.js';
import { CurrentCall } from '../../../src/platform/http/request/api-request.js';
import { UpdateLeadDto } from '../../../src/modules/leads/lead.dto.js';
import { LeadsModule } from '../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../src/modules/leads/leads.service.js';
import type { Call, TenantCall } from '../../../src/platform/data/call.js';
import {
  createLead,
  dataOf,
  expectError,
  type LeadRecord,
} from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

/** The work of the route in the current test. */
let work: (call: Call) => Promise<unknown>;

@Injectable()
class RenamesService {
  constructor(
    readonly database: TenantDatabase,
    private readonly leads: LeadsService,
  ) {}

  async run(call: Call) {
    await work(call);
    return { id: randomUUID() };
  }

  rename(call: Call, id: string, first_name: string) {
    return this.leads.update(call, id, readInput(UpdateLeadDto, { first_name }).value);
  }
}

@Controller('api/v1/renames')
class RenamesController {
  constructor(private readonly renames: RenamesService) {}

  @Post()
  @RequireScope('leads:write')
  run(@CurrentCall() call: Call) {
    return this.renames.run(call);
  }
}

@Module({ imports: [LeadsModule], controllers: [RenamesController], providers: [RenamesService] })
class RenamesModule {}

let app: TestApp;
let tenant: Tenant;
let database: TenantDatabase;
let lead: LeadRecord;
/** The name of the lead as other connections see it when each callback runs. */
let seen: [callback: string, name: string][];

beforeAll(async () => {
  app = await TestApp.start({ modules: [RenamesModule] });
  tenant = await app.organization();
  database = app.app.get(TenantDatabase);
});
beforeEach(async () => {
  lead = await createLead(tenant.api, { first_name: 'Ada' });
  seen = [];
});
afterAll(() => app.stop());

const post = (headers = {}) => tenant.api.post('/api/v1/renames', {}, { headers });
const rename = (call: Call, name: string) =>
  app.app.get(RenamesService).rename(call, lead.id, name);
const storedName = async () => {
  const [row] = await app.sql<{ first_name: string }>(
    'select first_name from leads where id = $1',
    [lead.id],
  );
  return row!.first_name;
};
const note = (callback: string) => async () => {
  seen.push([callback, await storedName()]);
};

describe('database.afterCommit', () => {
  it('runs the callback once after the commit, before the response', async () => {
    work = (call) =>
      database.transaction(call, async (inner) => {
        await database.afterCommit(inner, note('callback'));
        await rename(inner, 'Grace');
        expect(seen).toEqual([]);
      });
    dataOf(await post(), 201);
    expect(seen).toEqual([['callback', 'Grace']]);
  });

  it('runs the callback at once outside a transaction, after the statement', async () => {
    work = async (call) => {
      await rename(call, 'Grace');
      await database.afterCommit(call, note('callback'));
      expect(seen).toEqual([['callback', 'Grace']]);
    };
    dataOf(await post(), 201);
  });

  it('starts callbacks in the order in which they were added', async () => {
    const started: number[] = [];
    work = (call) =>
      database.transaction(call, async (inner) => {
        await database.afterCommit(inner, () => started.push(1));
        await database.transaction(inner, (part) =>
          database.afterCommit(part, () => started.push(2)),
        );
        await database.afterCommit(inner, () => started.push(3));
      });
    dataOf(await post(), 201);
    expect(started).toEqual([1, 2, 3]);
  });

  it('lets the callback write with the call of the transaction', async () => {
    work = (call) =>
      database.transaction(call, (inner) =>
        database.afterCommit(inner, async () => {
          await rename(inner, 'Grace');
          await note('callback')();
        }),
      );
    dataOf(await post({ 'Idempotency-Key': randomUUID() }), 201);
    expect(seen).toEqual([['callback', 'Grace']]);
  });

  it('does not run the callback when the transaction fails', async () => {
    work = (call) =>
      database.transaction(call, async (inner) => {
        await database.afterCommit(inner, note('callback'));
        throw new Error('for a test');
      });
    expectError(await post(), 500, 'internal_error');
    expect(seen).toEqual([]);
  });

  it('runs only the callbacks of the attempt that committed', async () => {
    let attempts = 0;
    work = (call) =>
      database.transaction(call, async (inner) => {
        attempts++;
        await database.afterCommit(inner, note(`attempt ${attempts}`));
        if (attempts > 1) return;
        const text = `do $$ begin raise exception 'for a test' using errcode = '40P01'; end $$`;
        await inner.transaction.query({ text, values: [], plan: 'custom' });
      });
    dataOf(await post(), 201);
    expect(seen).toEqual([['attempt 2', 'Ada']]);
  });

  it('does not run the callback of a part that was rolled back', async () => {
    work = (call) =>
      database.transaction(call, async (outer) => {
        await database.afterCommit(outer, note('outer'));
        const part = database.transaction(outer, async (inner) => {
          await rename(inner, 'Grace');
          await database.afterCommit(inner, note('inner'));
          throw new Error('for a test');
        });
        await part.catch(() => undefined);
        await database.afterCommit(outer, note('later'));
      });
    dataOf(await post(), 201);
    expect(seen.toSorted()).toEqual([
      ['later', 'Ada'],
      ['outer', 'Ada'],
    ]);
  });

  it('runs the callback of a part beside which another part fails', async () => {
    work = (call) =>
      database.transaction(call, async (outer) => {
        const steps = new EventEmitter();
        const [begun, ended] = [once(steps, 'begun'), once(steps, 'ended')];
        const kept = database.transaction(outer, async (inner) => {
          await begun;
          await database.afterCommit(inner, note('kept'));
        });
        const failed = database.transaction(outer, async (inner) => {
          steps.emit('begun');
          await database.afterCommit(inner, note('failed'));
          await ended;
          throw new Error('for a test');
        });
        await kept;
        steps.emit('ended');
        await expect(failed).rejects.toThrow('for a test');
      });
    dataOf(await post(), 201);
    expect(seen).toEqual([['kept', 'Ada']]);
  });

  it('does not run the callback in a dry run, also inner a transaction', async () => {
    const dryRun = (call: TenantCall) =>
      database.dryRun(call, (inner) => database.afterCommit(inner, note('callback')));
    work = async (call) => {
      await dryRun(call);
      await database.transaction(call, (inner) => dryRun(inner));
    };
    dataOf(await post(), 201);
    expect(seen).toEqual([]);
  });

  it('runs the callback after the commit of a request with an Idempotency-Key, and not in a replay', async () => {
    work = async (call) => {
      await database.afterCommit(call, note('callback'));
      await rename(call, 'Grace');
      expect(seen).toEqual([]);
    };
    const headers = { 'Idempotency-Key': randomUUID() };
    dataOf(await post(headers), 201);
    dataOf(await post(headers), 201);
    expect(seen).toEqual([['callback', 'Grace']]);
  });

  it.each(['in a transaction', 'outside a transaction'])(
    'logs an error of a callback %s, which affects neither the other callbacks nor the response',
    async (place) => {
      const error = jest.spyOn(logger, 'error');
      const fail = () => Promise.reject(new Error('for a test'));
      const add = async (call: TenantCall) => {
        await database.afterCommit(call, fail);
        await database.afterCommit(call, note('next'));
      };
      work = (call) =>
        place === 'in a transaction'
          ? database.transaction(call, (inner) => add(inner))
          : add(call);
      dataOf(await post(), 201);
      expect(seen).toEqual([['next', 'Ada']]);
      expect(error).toHaveBeenCalledWith(
        { err: expect.objectContaining({ message: 'for a test' }) as unknown },
        'a callback after commit failed',
      );
      error.mockRestore();
    },
  );
});

describe('database.transaction', () => {
  it('refuses statements after a rollback', async () => {
    let ended: TenantCall | undefined;
    const failing = database.transaction({ tenant }, (inner) => {
      ended = inner;
      return Promise.reject(new Error('for a test'));
    });
    await expect(failing).rejects.toThrow('for a test');
    await expect(database.read(ended!, { text: 'select 1', values: [] })).rejects.toThrow(
      'after the end of its transaction',
    );
  });

  it('refuses statements after the end of their part', async () => {
    work = (call) =>
      database.transaction(call, async (outer) => {
        let ended: Call | undefined;
        const part = database.transaction(outer, (inner) => {
          ended = inner;
          return Promise.reject(new Error('for a test'));
        });
        await expect(part).rejects.toThrow('for a test');
        await expect(rename(ended!, 'Grace')).rejects.toThrow('after the end of its part');
      });
    dataOf(await post(), 201);
    expect(await storedName()).toBe('Ada');
  });

  it('keeps the rest when a part fails inside which another part still runs', async () => {
    work = (call) =>
      database.transaction(call, async (outer) => {
        await rename(outer, 'Grace');
        const steps = new EventEmitter();
        const [begun, failed] = [once(steps, 'begun'), once(steps, 'failed')];
        let inside: Promise<unknown> | undefined;
        const part = database.transaction(outer, async (inner) => {
          inside = database.transaction(inner, async (innermost) => {
            steps.emit('begun');
            await failed;
            await rename(innermost, 'Edsger');
          });
          await begun;
          throw new Error('for a test');
        });
        await expect(part).rejects.toThrow('for a test');
        steps.emit('failed');
        await expect(inside).rejects.toThrow('after the end of its part');
      });
    dataOf(await post(), 201);
    expect(await storedName()).toBe('Grace');
  });

  it('fails if its work ignores the error of a statement without a savepoint', async () => {
    work = (call) =>
      database.transaction(call, async (inner) => {
        await rename(inner, 'Grace');
        await inner.transaction.query({ text: 'select 1 / 0', values: [] }).catch(() => undefined);
      });
    expectError(await post(), 500, 'create_failed');
    expect(await storedName()).toBe('Ada');
  });

  it('fails if the rollback of a part undoes a concurrent statement', async () => {
    work = (call) =>
      database.transaction(call, async (outer) => {
        const steps = new EventEmitter();
        const [begun, written] = [once(steps, 'begun'), once(steps, 'written')];
        const part = database.transaction(outer, async () => {
          steps.emit('begun');
          await written;
          throw new Error('for a test');
        });
        await begun;
        const text = `update leads set first_name = 'Grace' where id = $1`;
        await outer.transaction.query({ text, values: [lead.id] });
        steps.emit('written');
        await part.catch(() => undefined);
      });
    expectError(await post(), 500, 'create_failed');
  });

  it('keeps the rest when a part with writes of its own fails', async () => {
    const other = await createLead(tenant.api);
    work = (call) =>
      database.transaction(call, async (outer) => {
        await rename(outer, 'Grace');
        const part = database.transaction(outer, async (inner) => {
          await app.app.get(LeadsService).delete(inner, other.id);
          throw new Error('for a test');
        });
        await part.catch(() => undefined);
      });
    dataOf(await post(), 201);
    expect(await storedName()).toBe('Grace');
    dataOf(await tenant.api.get(`/api/v1/leads/${other.id}`));
  });
});
