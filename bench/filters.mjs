// Times requests with filters to a server whose database has the records of bench/filters.sql, and what they do to others.
// Usage: node bench/filters.mjs URL KEY_OF_THE_BIG_ORGANIZATION KEY_OF_ANOTHER
const [url, big, small] = process.argv.slice(2);

const EXAMPLE = {
  temperature: 'hot',
  source: { in: ['website', 'referral'] },
  'custom_fields.roof_age': { gte: 20 },
  or: [{ city: 'Graz' }, { zip: { starts_with: '80' } }],
  tasks: { none: { status: 'open' } },
};
const { temperature, ...REST } = EXAMPLE;
const WEEK = { gte: '2025-06-01T00:00:00Z', lt: '2025-06-04T00:00:00Z' };
const FILTERS = {
  'the example': EXAMPLE,
  'the example in a window of created_at': { ...REST, created_at: WEEK },
  'leads without tasks of hot ones': { temperature, tasks: { none: { status: 'open' } } },
  'an unindexed field': { city: 'Graz' },
  'a folded text': { company: { contains: 'any 77' } },
  'no condition that an index serves': REST,
  'tags and a custom field': { tags: { has: 'roof' }, 'custom_fields.roof_age': 7 },
};

async function request(key, path) {
  const start = performance.now();
  const answer = await fetch(url + path, { headers: { Authorization: `Bearer ${key}` } });
  const body = await answer.json();
  return { ms: performance.now() - start, status: answer.status, body };
}
const list = (key, filter, more = '') =>
  request(key, `/api/v1/leads?filter=${encodeURIComponent(JSON.stringify(filter))}${more}`);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

for (const [name, filter] of Object.entries(FILTERS)) {
  for (const more of ['', '&after=']) {
    const answers = [];
    for (let round = 0; round < 5; round++) answers.push(await list(big, filter, more));
    const { status, body } = answers.at(-1);
    const ms = median(answers.map((each) => each.ms)).toFixed();
    const found = body.error ? body.error.message : (body.meta.total ?? body.data.length);
    console.log(`${name}${more}: ${status}, ${ms} ms, ${found}`);
  }
}

async function timesOfOthers() {
  const times = { me: [], list: [] };
  for (let round = 0; round < 40; round++) {
    times.me.push((await request(small, '/api/v1/me')).ms);
    times.list.push((await request(small, '/api/v1/leads?status=new')).ms);
  }
  return Object.entries(times).map(
    ([name, all]) => `${name} ${median(all).toFixed(1)} ms, at most ${Math.max(...all).toFixed()}`,
  );
}
console.log('another organization, alone:', ...(await timesOfOthers()));
let isOver = false;
const statuses = {};
const readers = Array.from({ length: 10 }, async () => {
  while (!isOver) {
    const { status, ms } = await list(big, REST);
    statuses[status] = Math.max(statuses[status] ?? 0, Math.round(ms));
  }
});
console.log('another organization, beside ten filters:', ...(await timesOfOthers()));
isOver = true;
await Promise.all(readers);
console.log('the ten filters, longest by status:', statuses);
