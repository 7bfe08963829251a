import { Controller, Get, Injectable, Module, Post } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { AnyKey, RequireScope } from '../../../../src/platform/http/access.js';
import { LeadScorer } from '../../../../src/modules/leads/lead-scorer.js';
import { createLead, dataOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';

@Injectable()
class Gateway {
  send(): string {
    return 'sent';
  }
}

@Injectable()
class SentMessages {
  readonly texts: string[] = [];

  @OnEvent('message.sent')
  record({ text }: { text: string }): void {
    this.texts.push(text);
  }
}

@Controller('api/v1/messages')
class MessagesController {
  constructor(
    private readonly config: ConfigService,
    private readonly events: EventEmitter2,
    private readonly gateway: Gateway,
    private readonly sent: SentMessages,
  ) {}

  @Post()
  @RequireScope('leads:write')
  send() {
    const text = this.gateway.send();
    this.events.emit('message.sent', { text });
    return { text };
  }

  @Get('sent')
  @AnyKey()
  list() {
    return { texts: this.sent.texts, sender: this.config.get<string>('SENDER') };
  }
}

@Module({
  imports: [
    ConfigModule.forRoot({ ignoreEnvFile: true, load: [() => ({ SENDER: 'Ada' })] }),
    EventEmitterModule.forRoot(),
  ],
  controllers: [MessagesController],
  providers: [Gateway, SentMessages],
})
class MessagesModule {}

const PATH = '/api/v1/messages';

describe('@nestjs/config and @nestjs/event-emitter', () => {
  it('inject the configuration, and deliver the events of a team', async () => {
    const app = await TestApp.start({ modules: [MessagesModule] });
    try {
      const { api } = await app.organization();
      expect(dataOf(await api.post(PATH, {}), 201)).toEqual({ text: 'sent' });
      expect(dataOf(await api.get(`${PATH}/sent`))).toEqual({ texts: ['sent'], sender: 'Ada' });
    } finally {
      await app.stop();
    }
  });
});

describe('TestApp.start({ override })', () => {
  it('replaces providers of a team and of Latitude by those of @nestjs/testing', async () => {
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
      expect(dataOf(await api.post(PATH, {}), 201)).toEqual({ text: 'not sent' });
      expect(await createLead(api)).toMatchObject({ lead_score: 77 });
      expectError(await app.client().get(LEADS), 401, 'unauthorized');
      expectError(await api.get(`${LEADS}/x`), 404, 'not_found');
    } finally {
      await app.stop();
    }
  });
});
