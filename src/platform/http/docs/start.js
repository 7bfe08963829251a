// Starts the API reference on /docs. It adds a quick start and repeatable examples to the OpenAPI
// document, and collapses the errors of each operation into one row.
/* global document, fetch, location, matchMedia, sessionStorage, SwaggerUIBundle, URL */

const KEY = 'latitude.key';
const CREATED = 'latitude.created';
const SCHEME = 'apiKey';

const QUICK_START = `
### Quick start

1. Press **Authorize** and enter an API key. The first start of the server prints one. The key stays in
   this tab until you close it or log out.
2. Open **Create a lead**, press **Try it out** and **Execute**. The response is the new lead.
3. Open **Get a lead**. Its \`id\` is the lead that you created last.

Text in braces is replaced when a request is sent: \`{{random}}\` by a new number, and \`{{leads.id}}\`
by the id of the last record that you created on this page. If you have created none, GET and POST use
the newest record of the organization.
`;

const FIELDS = {
  email: 'grace.hopper+{{random}}@example.com',
  phone: '+1 415 {{random}}',
  external_id: 'crm-{{random}}',
  lead_id: '{{leads.id}}',
  contact_id: '{{leads.id}}',
  resource_id: '{{resources.id}}',
};

followColorScheme();
await start();

async function start() {
  const base = new URL('.', location.href).href.replace(/\/$/, '');
  const spec = await (await fetch('openapi.json')).json();
  const ui = SwaggerUIBundle({
    spec: prepare(spec, base),
    dom_id: '#reference',
    deepLinking: true,
    displayRequestDuration: true,
    // Swagger UI's validator would send the document to an external service.
    validatorUrl: null,
    plugins: [keepKey],
    requestInterceptor: (request) => fillIn(request, base),
    responseInterceptor: remember,
    onComplete: () => {
      const key = sessionStorage.getItem(KEY);
      if (key) ui.preauthorizeApiKey(SCHEME, key);
    },
  });
}

function followColorScheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

/** Changes the document for this page. */
function prepare(spec, base) {
  spec.servers = [{ url: base }];
  spec.info.description = `${QUICK_START}\n${spec.info.description}`;
  for (const [path, operations] of Object.entries(spec.paths)) {
    for (const operation of Object.values(operations)) {
      operation.parameters = operation.parameters?.map((one) => parameter(one, path));
      for (const { value } of Object.values(examplesOf(operation))) fillFields(value);
      foldErrors(operation, spec.components.responses);
    }
  }
  return spec;
}

function examplesOf({ requestBody }) {
  return requestBody?.content['application/json']?.examples ?? {};
}

/** Fills in path parameters and `Idempotency-Key`, but no other optional parameter. */
function parameter({ example, schema, ...rest }, path) {
  // Swagger UI validates formats and patterns, and would reject text in braces.
  const open = {
    type: schema.type,
    enum: schema.enum,
    minimum: schema.minimum,
    maximum: schema.maximum,
  };
  if (rest.in === 'path') {
    const resource = path.split('/{')[0].split('/').pop();
    return { ...rest, schema: open, example: `{{${resource}.id}}` };
  }
  if (rest.name === 'Idempotency-Key') return { ...rest, schema: open, example: '{{random}}' };
  const shown = example ?? schema.example ?? schema.examples?.[0];
  const hint = shown === undefined ? '' : ` Example: \`${shown}\`.`;
  return { ...rest, schema: open, description: `${rest.description ?? ''}${hint}` };
}

function fillFields(example) {
  if (typeof example !== 'object' || example === null) return;
  for (const [name, text] of Object.entries(FIELDS)) if (name in example) example[name] = text;
}

/** Collapses the error responses of an operation into one. */
function foldErrors(operation, components) {
  const isError = ([status]) => /^[45]/.test(status);
  const entries = Object.entries(operation.responses);
  const rows = entries.filter(isError).map(([status, response]) => {
    const { description } = components[response.$ref?.split('/').pop()] ?? response;
    return `<li><b>${status}</b> ${description.replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</li>`;
  });
  operation.responses = Object.fromEntries(entries.filter((entry) => !isError(entry)));
  if (rows.length === 0) return;
  const summary = `${rows.length} error responses, all with the same schema`;
  operation.responses.default = {
    description: `<details><summary>${summary}</summary><ul>${rows.join('')}</ul></details>`,
  };
}

/** A plugin that keeps the key in the session storage of this tab. */
function keepKey() {
  const wrap = (change) => (original) => (payload) => {
    change(payload);
    return original(payload);
  };
  const wrapActions = {
    authorize: wrap((payload) => {
      const { value } = payload[SCHEME] ?? {};
      if (typeof value === 'string') sessionStorage.setItem(KEY, value);
    }),
    logout: wrap(() => sessionStorage.removeItem(KEY)),
  };
  return { statePlugins: { auth: { wrapActions } } };
}

function created() {
  return JSON.parse(sessionStorage.getItem(CREATED) ?? '{}');
}

/** Replaces text in braces by values. */
async function fillIn(request, base) {
  const { method, headers } = request;
  const fill = (text) => fillText(text, { method, headers, base });
  request.url = await fill(request.url.replaceAll(/%7B%7B([\w.-]+)%7D%7D/gi, '{{$1}}'));
  if (typeof request.body === 'string') request.body = await fill(request.body);
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') headers[name] = await fill(value);
  }
  return request;
}

async function fillText(text, context) {
  let filled = text.replaceAll('{{random}}', () => randomDigits());
  for (const [whole, resource] of filled.matchAll(/\{\{([\w-]+)\.id\}\}/g)) {
    const id = created()[resource]?.at(-1) ?? (await newestId(resource, context));
    if (id) filled = filled.replace(whole, id);
  }
  return filled;
}

/** Returns undefined for PUT and DELETE, so that they change only records created by this page. */
async function newestId(resource, { method, headers, base }) {
  if (method !== 'GET' && method !== 'POST') return undefined;
  const { Authorization } = headers;
  const answer = await fetch(`${base}/api/v1/${resource}?limit=1`, { headers: { Authorization } });
  return answer.ok ? (await answer.json()).data[0]?.id : undefined;
}

function randomDigits() {
  return String(Math.floor(2_000_000 + Math.random() * 7_000_000));
}

/** Stores the ids of records that this page creates and deletes. */
function remember(response) {
  const [, resource] = /\/api\/v1\/([\w-]+)(?:\/[\w-]+)?$/.exec(response.url) ?? [];
  const { data } = response.body ?? {};
  if (!resource || !data?.id) return response;
  const known = created();
  const ids = (known[resource] ?? []).filter((one) => one !== data.id);
  if (response.status === 201) known[resource] = [...ids, data.id];
  else if (data.deleted) known[resource] = ids;
  sessionStorage.setItem(CREATED, JSON.stringify(known));
  return response;
}
