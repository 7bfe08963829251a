import { LAST_NAMES } from './data.mjs';
import { NUMBER } from './requests.mjs';

const LIMIT = 50;
const SEARCHES = 100;

/** The names of all cases. */
export const CASES = 'get list large last rare common create update mcp'.split(' ');

/** E-mail domain of the leads that the benchmark creates. */
export const CREATED_DOMAIN = 'created.example';

/** Body of a creation. */
export const NEW_LEAD = {
  first_name: 'Grace',
  last_name: 'Hopper',
  email: `grace.hopper.${NUMBER}@${CREATED_DOMAIN}`,
  phone: `+1212${NUMBER}`,
  company: 'Navy',
  temperature: 'warm',
  tags: ['newsletter'],
  custom_fields: { budget: 25_000 },
};

/** Body of an update. The score does not depend on these fields. */
const CHANGES = { status: 'contacted', notes: `Called, and call ${NUMBER} was answered.` };

/** Search terms that match about every 20th lead, and nearly the same leads on each server. */
export const COMMON_TERMS = LAST_NAMES.filter((name) => name.length >= 6);

/**
 * The cases and their operations, which are sent in turn. `writes` says what must be restored afterwards.
 * A `databaseBound` case needs no warm-up.
 * @param leads a sample of the stored leads
 */
export function casesOf(organizations, leads) {
  const byId = new Map(organizations.map((organization) => [organization.id, organization]));
  const [large] = organizations;
  const list = (organization, more) => ({ type: 'list', organization, limit: LIMIT, ...more });
  const ofLead = (type, { organization_id: organization, id }, more) => {
    return { type, organization: byId.get(organization), id, ...more };
  };
  const inLarge = leads.filter((lead) => lead.organization_id === large.id).slice(0, SEARCHES);
  const smallOnes = organizations.filter(({ small }) => small);
  return [
    { name: 'get', title: 'get by id', operations: leads.map((lead) => ofLead('get', lead)) },
    {
      name: 'list',
      title: 'list 50 of 1,000 + exact total',
      operations: smallOnes.map((organization) => list(organization, { page: 1 })),
    },
    {
      name: 'large',
      databaseBound: true,
      title: `list 50 of ${large.size.toLocaleString('en')} + exact total`,
      operations: [list(large, { page: 1 })],
    },
    {
      name: 'last',
      databaseBound: true,
      title: `last page of ${large.size.toLocaleString('en')}`,
      operations: [list(large, { page: large.size / LIMIT })],
    },
    {
      name: 'rare',
      databaseBound: true,
      title: 'search that finds one lead',
      operations: inLarge.map(({ email }) => list(large, { page: 1, search: email.split('@')[0] })),
    },
    {
      name: 'common',
      databaseBound: true,
      title: 'search that finds every 20th lead',
      operations: COMMON_TERMS.map((search) => list(large, { page: 1, search })),
    },
    {
      name: 'create',
      title: 'create',
      writes: 'created',
      operations: organizations.map((organization) => ({
        type: 'create',
        organization,
        lead: NEW_LEAD,
      })),
    },
    {
      name: 'update',
      title: 'update',
      writes: 'updated',
      operations: leads.map((lead) => ofLead('update', lead, { changes: CHANGES })),
    },
    { name: 'mcp', title: '/mcp get_lead', operations: leads.map((lead) => ofLead('get', lead)) },
  ];
}
