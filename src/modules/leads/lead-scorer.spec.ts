import { DefaultLeadScorer, type ScorableLead } from './lead-scorer.js';

const NOTHING: ScorableLead = {
  first_name: 'Ada',
  last_name: null,
  phone: null,
  email: null,
  company: null,
  address_street: null,
  city: null,
  state: null,
  zip: null,
  status: null,
  temperature: null,
  source: 'api',
  notes: null,
  tags: [],
  custom_fields: {},
  sms_opted_out: false,
  on_dnc_list: false,
  external_id: null,
};

const BEST: ScorableLead = {
  ...NOTHING,
  last_name: 'Lovelace',
  phone: '123',
  email: 'ada@example.com',
  company: 'Engines',
  address_street: '12 Square',
  city: 'London',
  temperature: 'hot',
  source: 'referral',
};

describe('DefaultLeadScorer', () => {
  const scorer = new DefaultLeadScorer();
  const scoreOf = (known: Partial<ScorableLead>) => scorer.score({ ...NOTHING, ...known });

  it.each<[Partial<ScorableLead>, number]>([
    [{}, 0],
    [{ email: 'ada@example.com' }, 20],
    [{ phone: '123' }, 20],
    [{ company: 'Engines' }, 10],
    [{ last_name: 'Lovelace' }, 5],
    [{ address_street: '12 Square', city: 'London' }, 5],
    [{ address_street: '12 Square' }, 0],
    [{ city: 'London' }, 0],
    [{ temperature: 'hot' }, 30],
    [{ temperature: 'warm' }, 15],
    [{ temperature: 'cold' }, 0],
    [{ source: 'referral' }, 10],
    [{ source: 'website' }, 5],
    [{ source: 'import' }, 0],
    [{ notes: 'n', tags: ['t'], custom_fields: { a: 1 }, status: 's', state: 'NY', zip: '1' }, 0],
    [{ email: 'ada@example.com', temperature: 'warm', source: 'website' }, 40],
  ])('scores %j as %d', (known, score) => {
    expect(scoreOf(known)).toBe(score);
  });

  it.each<Partial<ScorableLead>>([
    { sms_opted_out: true },
    { on_dnc_list: true },
    { sms_opted_out: true, on_dnc_list: true },
  ])('halves the score once for %j and rounds it down', (flags) => {
    expect(scorer.score({ ...BEST, ...flags })).toBe(50);
    expect(scoreOf({ temperature: 'warm', ...flags })).toBe(7);
    expect(scoreOf(flags)).toBe(0);
  });

  it('depends on its scored fields only', () => {
    const scored = scorer.scoredFields()!;
    for (const lead of [NOTHING, BEST]) {
      const pick = scored.map((name) => [name, lead[name]]);
      const others = lead === BEST ? NOTHING : BEST;
      expect(scorer.score({ ...others, ...Object.fromEntries(pick) })).toBe(scorer.score(lead));
    }
    expect(new (class extends DefaultLeadScorer {})().scoredFields()).toBeUndefined();
  });

  it('returns 100 for a lead with every scored field', () => {
    expect(scorer.score(BEST)).toBe(100);
  });

  it('returns the same integer from 0 to 100 for the same fields', () => {
    const fields = Object.keys(BEST) as (keyof ScorableLead)[];
    const differing = fields.filter((field) => BEST[field] !== NOTHING[field]);
    for (let mask = 0; mask < 2 ** differing.length; mask++) {
      const given = differing.filter((_, bit) => mask & (1 << bit));
      const lead = Object.fromEntries(given.map((field) => [field, BEST[field]]));
      for (const sms_opted_out of [false, true]) {
        const score = scoreOf({ ...lead, sms_opted_out });
        expect(Number.isInteger(score) && score >= 0 && score <= 100).toBe(true);
        expect(scoreOf({ ...lead, sms_opted_out })).toBe(score);
      }
    }
  });
});
