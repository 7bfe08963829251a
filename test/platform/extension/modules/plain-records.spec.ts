import { isProxy } from 'node:util/types';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  Put,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { map, type Observable } from 'rxjs';
import { RequireScope } from '../../../../src/platform/http/routes/access.js';
import { CurrentCall } from '../../../../src/platform/http/request/api-request.js';
import { Id } from '../../../../src/platform/http/request/id.decorator.js';
import type { LeadDto } from '../../../../src/modules/leads/lead.dto.js';
import { LeadsModule } from '../../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../../src/modules/leads/leads.service.js';
import type { Call } from '../../../../src/platform/data/call.js';
import {
  createLead,
  dataOf,
  expectError,
  getLead,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const seenByInterceptor: unknown[] = [];

/** Clones what the handler returned, as an interceptor with a cache does. */
@Injectable()
class CloningInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      map((value: unknown) => {
        seenByInterceptor.push(value);
        return structuredClone(value);
      }),
    );
  }
}

@Controller('api/v1/copies')
class CopiesController {
  constructor(private readonly leads: LeadsService) {}

  @Get(':id')
  @RequireScope('leads:read')
  async copy(@CurrentCall() call: Call, @Id() id: string): Promise<LeadDto> {
    return structuredClone(await this.leads.get(call, id));
  }

  @Get(':id/lead')
  @RequireScope('leads:read')
  get(@CurrentCall() call: Call, @Id() id: string): Promise<LeadDto> {
    return this.leads.get(call, id);
  }

  @Put(':id')
  @RequireScope('leads:write')
  async update(@CurrentCall() call: Call, @Id() id: string): Promise<LeadDto> {
    return structuredClone(await this.leads.update(call, id, { city: 'Bern' }));
  }
}

@Module({
  imports: [LeadsModule],
  controllers: [CopiesController],
  providers: [{ provide: APP_INTERCEPTOR, useClass: CloningInterceptor }],
})
class CopiesModule {}

let app: TestApp;
/** The same database without the interceptor. */
let bare: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await TestApp.start({ modules: [CopiesModule] });
  bare = await TestApp.start({ database: app.database });
  tenant = await app.organization();
});
afterAll(async () => {
  await bare.stop();
  await app.stop();
});

describe('a record in the code of a team', () => {
  it('is cloned by structuredClone when a service has read it', async () => {
    const lead = await createLead(tenant.api, { tags: ['a'], custom_fields: { size: 3 } });
    expect(dataOf(await tenant.api.get(`/api/v1/copies/${lead.id}`))).toEqual(lead);
  });

  it('is cloned by structuredClone when a service has changed it', async () => {
    const lead = await createLead(tenant.api);
    const changed = dataOf<LeadDto>(await tenant.api.put(`/api/v1/copies/${lead.id}`, {}));
    expect(changed).toEqual(await getLead(tenant.api, lead.id));
    expect(changed.city).toBe('Bern');
  });

  it('has the ETag of the record when a route returns it', async () => {
    const { id } = await createLead(tenant.api);
    const own = await tenant.api.get(`/api/v1/copies/${id}/lead`);
    const original = await tenant.api.get(`${LEADS}/${id}`);
    expect(own.headers.get('etag')).toBe(original.headers.get('etag'));
    expect(own.body).toEqual(original.body);
  });

  it('has an ETag that If-Match accepts until the record changes', async () => {
    const { id } = await createLead(tenant.api, { custom_fields: { size: 3 } });
    const own = await tenant.api.get(`/api/v1/copies/${id}/lead`);
    const headers = { 'If-Match': own.headers.get('etag')! };
    const update = (city: string) => tenant.api.put(`${LEADS}/${id}`, { city }, { headers });
    expect(dataOf(await update('Wien'))).toMatchObject({ city: 'Wien' });
    expectError(await update('Graz'), 412, 'precondition_failed');
  });

  it("is a plain object to an interceptor of Latitude's routes, which keep their ETag", async () => {
    const { id } = await createLead(tenant.api, { custom_fields: { size: 3 } });
    const changed = await tenant.api.put(`${LEADS}/${id}`, { city: 'Wien' });
    seenByInterceptor.length = 0;
    const read = await tenant.api.get(`${LEADS}/${id}`);
    expect(seenByInterceptor.map((value) => isProxy(value))).toEqual([false]);
    expect(seenByInterceptor).toStrictEqual([
      { ...dataOf<LeadDto>(read), created_at: expect.any(Date), updated_at: expect.any(Date) },
    ]);
    expect(dataOf(read)).toMatchObject({ id, city: 'Wien' });
    expect(read.headers.get('etag')).toBe(changed.headers.get('etag'));
    const uncopied = await bare.client(tenant.key.key).get(`${LEADS}/${id}`);
    expect(read.headers.get('etag')).toBe(uncopied.headers.get('etag'));
  });

  it('is in the plain page that an interceptor receives', async () => {
    const { id } = await createLead(tenant.api);
    for (const path of [LEADS, `${LEADS}/${id}/events`]) {
      const { body } = await tenant.api.get(path);
      expect(body).toEqual({ data: expect.any(Array), meta: expect.any(Object) });
    }
  });
});
