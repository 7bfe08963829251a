import { LAST_NAMES } from './data.mjs';
import { NUMBER } from './requests.mjs';

const LIMIT = 50;
const SEARCHES = 100;

/** The names of all cases. */
export const CASES = 'get create update hot list large last rare common mcp'.split(' ');

/** The names of the cases of single leads, which are measured with several numbers of organizations. */
export const SINGLE_LEAD_CASES = ['get', 'create', 'update'];

/** E-mail domain of the leads that the benchmark creates. */
export const CREATED_DOMAIN = 'created.example';

/** Body of a creation. */
export const NEW_LEAD = {
  first_name: 'Grace',
  last_name: 'Hopper',
  email: `grace.hopper.${NUMBER}@${CREATED_DOMAIN}`,
  phone: `+121${NUMBER}`,
  company: 'Navy',
  temperature: 'warm',
  tags: ['newsletter'],
  custom_fields: { budget: 25_000 },
};

/** Body of an update. The score does not depend on these fields. */
export const CHANGES = { status: 'contacted', notes: `Called, and call ${NUMBER} was answered.` };

/** Search terms that match about every 20th lead, and nearly the same leads on each server. */
export const COMMON_TERMS = LAST_NAMES.filter((name) => name.length >= 6);

/**
 * The cases and their operations, which are sent in turn. `writes` says what must be restored afterwards.
 * `organizations` is the number of organizations that the requests are for in turn, where it is chosen.
 * @param leads a sample of the stored leads
 * @param scope.organizations the numbers of organizations of the cases of single leads
 * @param scope.connectionsOf the numbers of connections of a case, by its name and number of organizations
 */
export function casesOf(organizations, leads, { organizations: counts, connectionsOf }) {
  const single = counts.flatMap((count, i) =>
    singleLeadCases(organizations.slice(0, count), leads).map((benchCase) => ({
      ...{ ...benchCase, organizations: count, skipsWarmUp: i > 0 },
      connections: connectionsOf(benchCase.name, count),
    })),
  );
  const others = [
    hotCase(organizations, leads),
    ...listCases(organizations, leads),
    mcpCase(organizations, leads),
  ];
  return [
    ...single,
    ...others.map((benchCase) => ({ ...benchCase, connections: connectionsOf(benchCase.name) })),
  ];
}

/** Cases of single leads, which concern each of the organizations equally often. */
function singleLeadCases(organizations, leads) {
  const ofLeads = (type, more) => operationsOf(type, organizations, leads, more);
  const creations = organizations.map((organization) => {
    return { type: 'create', organization, record: NEW_LEAD };
  });
  return [
    { name: 'get', title: 'get by id', operations: ofLeads('get') },
    { name: 'create', title: 'create', writes: 'created', operations: creations },
    {
      name: 'update',
      title: 'update',
      writes: 'updated',
      operations: ofLeads('update', { changes: CHANGES }),
    },
  ];
}

/** @returns operations on leads of the organizations in turn */
function operationsOf(type, organizations, leads, more) {
  const byOrganization = organizations.map((organization) =>
    leads
      .filter((lead) => lead.organization_id === organization.id)
      .map(({ id }) => ({ type, organization, id, ...more })),
  );
  const each = Math.min(...byOrganization.map(({ length }) => length));
  return Array.from({ length: each }, (_, i) => byOrganization.map((own) => own[i])).flat();
}

/** All requests update the same lead. */
function hotCase(organizations, leads) {
  const [operation] = operationsOf('update', organizations, leads, { changes: CHANGES });
  return { name: 'hot', title: 'update of one lead', writes: 'updated', operations: [operation] };
}

function mcpCase(organizations, leads) {
  const operations = operationsOf('get', organizations, leads);
  return { name: 'mcp', title: '/mcp get_lead', operations };
}

function listCases(organizations, leads) {
  const [large] = organizations;
  const list = (organization, more) => ({ type: 'list', organization, limit: LIMIT, ...more });
  const inLarge = leads.filter((lead) => lead.organization_id === large.id).slice(0, SEARCHES);
  const smallOnes = organizations.filter(({ small }) => small);
  return [
    {
      name: 'list',
      title: 'list 50 of 1,000 + exact total',
      operations: smallOnes.map((organization) => list(organization, { page: 1 })),
    },
    {
      name: 'large',
      skipsWarmUp: true,
      title: `list 50 of ${large.size.toLocaleString('en')} + exact total`,
      operations: [list(large, { page: 1 })],
    },
    {
      name: 'last',
      skipsWarmUp: true,
      title: `last page of ${large.size.toLocaleString('en')}`,
      operations: [list(large, { page: large.size / LIMIT })],
    },
    {
      name: 'rare',
      skipsWarmUp: true,
      title: 'search that finds one lead',
      operations: inLarge.map(({ email }) => list(large, { page: 1, search: email.split('@')[0] })),
    },
    {
      name: 'common',
      skipsWarmUp: true,
      title: 'search that finds every 20th lead',
      operations: COMMON_TERMS.map((search) => list(large, { page: 1, search })),
    },
  ];
}
