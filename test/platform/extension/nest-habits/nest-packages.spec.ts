import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { LeadScorer } from '../../../../src/modules/leads/lead-scorer.js';
import { createLead, dataOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';

@Injectable()
class Gateway {
  send(): string {
    return 'sent';
  }
}

@Controller('api/v1/messages')
class MessagesController {
  constructor(private readonly gateway: Gateway) {}

  @Get()
  @AnyKey()
  send() {
    return { text: this.gateway.send() };
  }
}

@Module({ controllers: [MessagesController], providers: [Gateway] })
class MessagesModule {}

it('TestApp.start({ override }) replaces providers of a team and of Latitude', async () => {
  const app = await TestApp.start({
    modules: [MessagesModule],
    override: (builder) =>
      builder
        .overrideProvider(Gateway)
        .useValue({ send: () => 'not sent' })
        .overrideProvider(LeadScorer)
        .useValue({ score: () => 77 }),
  });
  try {
    const { api } = await app.organization();
    expect(dataOf(await api.get('/api/v1/messages'))).toEqual({ text: 'not sent' });
    expect(await createLead(api)).toMatchObject({ lead_score: 77 });
    expectError(await app.client().get(LEADS), 401, 'unauthorized');
    expectError(await api.get(`${LEADS}/x`), 404, 'not_found');
  } finally {
    await app.stop();
  }
});
