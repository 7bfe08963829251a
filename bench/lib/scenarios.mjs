import { generator, shuffle } from './data.mjs';

const LEADS = '/api/v1/leads';
const SEED = 7;
const GETS = 2_000;

/** What a request's number stands for in its body; each request gets the next one. */
export const NUMBER = '{n}';
export const FIRST_NUMBER = 2_000_000;

/** By which the leads are found that the benchmark created. */
export const CREATED_DOMAIN = 'created.example';

/** The requests that are measured; each turns over its own list of them. */
export function scenariosOf(organizations, leads) {
  const keyOf = new Map(organizations.map(({ id, key }) => [id, key]));
  const some = shuffle(leads, generator(SEED)).slice(0, GETS);
  return [
    {
      name: 'get by id',
      requests: some.map((lead) => ({
        method: 'GET',
        path: `${LEADS}/${lead.id}`,
        key: keyOf.get(lead.organization_id),
      })),
    },
    {
      name: 'list 50 + exact total',
      requests: organizations.map(({ key }) => ({
        method: 'GET',
        path: `${LEADS}?page=1&limit=50`,
        key,
      })),
    },
    {
      name: 'create',
      writes: true,
      requests: organizations.map(({ key }) => ({
        method: 'POST',
        path: LEADS,
        key,
        body: JSON.stringify({
          first_name: 'Grace',
          last_name: 'Hopper',
          email: `grace.hopper.${NUMBER}@${CREATED_DOMAIN}`,
          phone: `+1212${NUMBER}`,
          company: 'Navy',
          temperature: 'warm',
          tags: ['newsletter'],
          custom_fields: { budget: 25_000 },
        }),
      })),
    },
  ];
}
