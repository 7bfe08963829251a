const SECRET = 'secret-of-the-benchmark';
const TOKEN_NOTE = 'token of the benchmark: ';
export const TOKEN_LINE = new RegExp(`${TOKEN_NOTE}(\\w+)`);

const TEXTS = `first_name last_name phone email company address_street city state zip lead_status
  temperature external_id`.split(/\s+/);

const SCHEMA = {
  kind: 'collectionType',
  collectionName: 'leads',
  info: { singularName: 'lead', pluralName: 'leads', displayName: 'Lead' },
  options: { draftAndPublish: false },
  attributes: {
    organization_id: { type: 'string', required: true },
    ...Object.fromEntries(TEXTS.map((name) => [name, { type: 'string' }])),
    source: { type: 'string', default: 'api' },
    notes: { type: 'text' },
    tags: { type: 'json' },
    custom_fields: { type: 'json' },
    lead_score: { type: 'integer', default: 70 },
    sms_opted_out: { type: 'boolean', default: false },
    on_dnc_list: { type: 'boolean', default: false },
  },
};

const MIDDLEWARES = 'logger errors security cors poweredBy query body session favicon public'.split(
  ' ',
);

/** @returns the files of a Strapi project with one content type, by path */
export function filesOf(connection, port, dependencies) {
  const exported = (value) => `module.exports = ${JSON.stringify(value)};`;
  const factory = (kind) =>
    `module.exports = require('@strapi/strapi').factories.createCore${kind}('api::lead.lead');`;
  return {
    'package.json': JSON.stringify({ name: 'peer', private: true, dependencies }),
    'config/database.js': exported({ connection: { client: 'postgres', connection } }),
    'config/server.js': exported({ host: '127.0.0.1', port, app: { keys: [SECRET] } }),
    'config/admin.js': exported({
      serveAdminPanel: false,
      auth: { secret: SECRET },
      apiToken: { salt: SECRET },
      transfer: { token: { salt: SECRET } },
      secrets: { encryptionKey: SECRET },
    }),
    'config/api.js': exported({ rest: { defaultLimit: 50, maxLimit: 100, withCount: true } }),
    'config/middlewares.js': exported(MIDDLEWARES.map((name) => `strapi::${name}`)),
    'config/plugins.js': exported({
      'users-permissions': { config: { jwtSecret: SECRET } },
    }),
    'public/uploads/.gitkeep': '',
    'favicon.png': '',
    'src/index.js': `module.exports = { async bootstrap({ strapi }) {
      const token = { name: 'bench', description: '', type: 'full-access', lifespan: null };
      const { accessKey } = await strapi.service('admin::api-token').create(token);
      console.log('${TOKEN_NOTE}' + accessKey);
    } };`,
    'src/api/lead/content-types/lead/schema.json': JSON.stringify(SCHEMA),
    'src/api/lead/controllers/lead.js': factory('Controller'),
    'src/api/lead/services/lead.js': factory('Service'),
    'src/api/lead/routes/lead.js': factory('Router'),
  };
}
