import { LAST_NAMES } from './data.mjs';
import { NUMBER } from './requests.mjs';

const LIMIT = 50;
const SEARCHES = 100;

/** The names of all cases. */
export const CASES = 'get list large last rare common create update mcp'.split(' ');

/** By which the leads are found that the benchmark created. */
export const CREATED_DOMAIN = 'created.example';

/** What a created lead has; Latitude computes the last one, the other servers are told it. */
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

/** Fields that the score does not depend on. */
const CHANGES = { status: 'contacted', notes: `Called, and call ${NUMBER} was answered.` };

/** Names that a search finds in nearly the same leads of each server, a twentieth of all. */
export const COMMON_TERMS = LAST_NAMES.filter((name) => name.length >= 6);

/**
 * What is measured: of each case, what is asked in turn. `writes` tells what must be undone.
 * The time of what is `databaseBound` goes into the database, which needs no warming up.
 * @param leads some of those that are stored
 */
export function casesOf(organizations, leads) {
  const byId = new Map(organizations.map((organization) => [organization.id, organization]));
  const [large] = organizations;
  const list = (organization, more) => ({ does: 'list', organization, limit: LIMIT, ...more });
  const ofLead = (does, { organization_id: organization, id }, more) => {
    return { does, organization: byId.get(organization), id, ...more };
  };
  const inLarge = leads.filter((lead) => lead.organization_id === large.id).slice(0, SEARCHES);
  const smallOnes = organizations.filter(({ small }) => small);
  return [
    { name: 'get', title: 'get by id', asks: leads.map((lead) => ofLead('get', lead)) },
    {
      name: 'list',
      title: 'list 50 of 1,000 + exact total',
      asks: smallOnes.map((organization) => list(organization, { page: 1 })),
    },
    {
      name: 'large',
      databaseBound: true,
      title: `list 50 of ${large.size.toLocaleString('en')} + exact total`,
      asks: [list(large, { page: 1 })],
    },
    {
      name: 'last',
      databaseBound: true,
      title: `last page of ${large.size.toLocaleString('en')}`,
      asks: [list(large, { page: large.size / LIMIT })],
    },
    {
      name: 'rare',
      databaseBound: true,
      title: 'search that finds one lead',
      asks: inLarge.map(({ email }) => list(large, { page: 1, search: email.split('@')[0] })),
    },
    {
      name: 'common',
      databaseBound: true,
      title: 'search that finds every 20th lead',
      asks: COMMON_TERMS.map((search) => list(large, { page: 1, search })),
    },
    {
      name: 'create',
      title: 'create',
      writes: 'created',
      asks: organizations.map((organization) => ({
        does: 'create',
        organization,
        lead: NEW_LEAD,
      })),
    },
    {
      name: 'update',
      title: 'update',
      writes: 'updated',
      asks: leads.map((lead) => ofLead('update', lead, { changes: CHANGES })),
    },
    { name: 'mcp', title: '/mcp get_lead', asks: leads.map((lead) => ofLead('get', lead)) },
  ];
}
