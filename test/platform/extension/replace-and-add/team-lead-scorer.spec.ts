import { Injectable, Module } from '@nestjs/common';
import { InjectSetting } from '../../../../src/platform/config/config.module.js';
import { setting } from '../../../../src/platform/config/setting.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { LeadScorer, type ScorableLead } from '../../../../src/modules/leads/lead-scorer.js';
import {
  createLead,
  errorOf,
  expectError,
  getLead,
  LEADS,
  updateLead,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

/** Scores a lead by the length of its notes. */
@Injectable()
class NotesScorer extends LeadScorer {
  score({ notes }: ScorableLead): number {
    return Math.min(100, notes?.length ?? 1);
  }
}

@Module({})
class EmptyModule {}

const scoringExtension = defineExtension({
  name: 'acme-scoring',
  module: EmptyModule,
  replaces: [{ provide: LeadScorer, useClass: NotesScorer }],
});

/** Returns the number in the notes, which can violate the contract of `score`. */
@Injectable()
class CarelessScorer extends LeadScorer {
  score({ notes }: ScorableLead): number {
    return Number(notes ?? 0);
  }
}

const carelessExtension = defineExtension({
  name: 'careless',
  module: EmptyModule,
  replaces: [{ provide: LeadScorer, useClass: CarelessScorer }],
});

@Injectable()
class PointsService {
  readonly ofTag = 10;
}

/** Adds points that the module of its extension knows. */
@Injectable()
class PointsScorer extends LeadScorer {
  constructor(
    private readonly points: PointsService,
    @InjectSetting('POINTS_MAX') private readonly max: number,
  ) {
    super();
  }

  score({ tags }: ScorableLead): number {
    return Math.min(this.max, tags.length * this.points.ofTag);
  }
}

@Module({ providers: [PointsService], exports: [PointsService] })
class PointsModule {}

const pointsExtension = defineExtension({
  name: 'points',
  module: PointsModule,
  settings: { POINTS_MAX: setting.integer({ default: 15 }) },
  replaces: [{ provide: LeadScorer, useClass: PointsScorer }],
});

describe("a team's own LeadScorer", () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ extensions: [scoringExtension] });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it('computes the score on create', async () => {
    expect((await createLead(tenant.api)).lead_score).toBe(1);
    const lead = await createLead(tenant.api, { notes: 'x'.repeat(42), temperature: 'hot' });
    expect(lead.lead_score).toBe(42);
    expect((await getLead(tenant.api, lead.id)).lead_score).toBe(42);
  });

  it('computes the score from the whole lead on update', async () => {
    const { id } = await createLead(tenant.api, { notes: 'x'.repeat(42) });
    expect((await updateLead(tenant.api, id, { city: 'Paris' })).lead_score).toBe(42);
    expect((await updateLead(tenant.api, id, { notes: 'x'.repeat(200) })).lead_score).toBe(100);
    expect((await updateLead(tenant.api, id, { notes: null })).lead_score).toBe(1);
  });

  it('determines the order of lists by lead_score', async () => {
    const { api } = await app.organization();
    for (const length of [5, 50, 20]) await createLead(api, { notes: 'x'.repeat(length) });
    const { body } = (await api.get(`${LEADS}?sort_by=lead_score`)) as { body: unknown };
    expect(body).toMatchObject({
      data: [{ lead_score: 50 }, { lead_score: 20 }, { lead_score: 5 }],
    });
  });
});

describe("a team's LeadScorer that violates its contract", () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ extensions: [carelessExtension] });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it.each(['101', '-1', '33.3', 'NaN', 'Infinity'])(
    'answers 500 to create and update for the score %s and stores nothing',
    async (notes) => {
      const answer = await tenant.api.post(LEADS, { first_name: 'Ada', notes });
      expectError(answer, 500, 'internal_error');
      const lead = await createLead(tenant.api, { notes: '7' });
      const update = await tenant.api.put(`${LEADS}/${lead.id}`, { notes });
      expectError(update, 500, 'internal_error');
      expect(await getLead(tenant.api, lead.id)).toStrictEqual(lead);
      expect(errorOf(update).message).not.toContain('Scorer');
    },
  );
});

describe('a LeadScorer with dependencies', () => {
  it('injects settings and what the module of its extension exports', async () => {
    const app = await TestApp.start({ extensions: [pointsExtension] });
    const { api } = await app.organization();
    expect(await createLead(api, { tags: ['a'] })).toMatchObject({ lead_score: 10 });
    expect(await createLead(api, { tags: ['a', 'b'] })).toMatchObject({ lead_score: 15 });
    await app.stop();
  });
});
