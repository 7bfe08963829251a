// Makes a Postman collection (v2.1) from an OpenAPI document. Each tag has a folder, whose requests work in
// their order on records that they create themselves. Some requests show errors.
import { errorRequests } from './error-requests.mjs';
import { requestOf } from './request.mjs';
import { successTests } from './tests.mjs';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

const ABOUT = `
Set \`base_url\` to the address of the server and \`api_key\` to a key that has the scopes which the
requests name. Run a folder from its top: each request stores the ids that later ones use, and e-mail
addresses and phone numbers are new each time. A run of the whole collection needs a key with rate limits of its own, such
as the key \`console\` of the first start; a folder fits into the default limits. Upserts, batches, merges and erasures are left
out, and so are the routes of keys, grants, operators and files.
`;

/** @param document the OpenAPI document */
export function collectionOf(document) {
  const { info, servers, tags } = document;
  const operations = operationsOf(document);
  return {
    info: {
      name: info.title,
      description: `${ABOUT.trim()}\n\n${info.description}`,
      version: info.version,
      schema: SCHEMA,
    },
    auth: {
      type: 'bearer',
      bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }],
    },
    variable: [
      { key: 'base_url', value: servers[0].url },
      { key: 'api_key', value: '' },
    ],
    item: tags.map((tag) => folderOf(tag, operations)).filter((folder) => folder.item.length > 0),
  };
}

/** Whether the records that a route changes depend on its body, it is about a file, or it needs a key that the collection has not. */
function isLeftOut(method, path) {
  return (
    /\/(batch|erase|export|imports(\/.*)?|merge|upsert)$/.test(path) ||
    /^\/api\/v1\/(grants|keys|organizations)\b/.test(path) ||
    (method === 'put' && path === '/api/v1/organization')
  );
}

/** The operations of the collection: `{ path, method, operation }`. */
export function listedOperations({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => !isLeftOut(method, path))
      .map(([method, operation]) => ({ path, method, operation })),
  );
}

function operationsOf(document) {
  return listedOperations(document).map(({ path, method, operation }) => ({
    ...operation,
    path,
    method: method.toUpperCase(),
    // The kind of its record, used in names of variables.
    record: singularOf(path.replace(/\/\{.*/, '')),
    isItem: path.endsWith('}'),
    // The kind of the records of a list below a record, or of one that is created there.
    nested: /\}\/[^{}]+$/.test(path) ? singularOf(path) : undefined,
    // The kind of the record that the operation creates, reads or changes.
    stored: storedBy(method, path),
    components: document.components,
  }));
}

function folderOf({ name, description }, all) {
  const own = all.filter(({ tags }) => tags.includes(name)).sort((a, b) => order(a) - order(b));
  const deletes = ({ method }) => method === 'DELETE';
  return {
    name,
    description,
    item: [
      ...linkedRecords(own, all),
      ...own.filter((one) => !deletes(one)).map(successOf),
      ...own.flatMap(errorRequests),
      ...own.filter(deletes).map(successOf),
    ],
  };
}

function storedBy(method, path) {
  if (path.endsWith('}')) return singularOf(path.replace(/\/\{[^{}]*\}$/, ''));
  const isCreatedBelow = method === 'post' && /\}\/calendar$/.test(path);
  return isCreatedBelow ? singularOf(path) : singularOf(path.replace(/\/\{.*/, ''));
}

/** The last step of a path in the singular: `lead`, `delivery`. */
function singularOf(path) {
  const [name] = path.split('/').slice(-1);
  return name.replace(/ies$/, 'y').replace(/s$/, '');
}

/** Create, get, list, update, actions on a record, lists below it and actions on their records, delete. */
function order({ method, isItem, path, nested, record, stored }) {
  const depth = path.split('{').length - 1;
  if (method === 'POST') return stored === record ? [0, 4, 6][depth] : 0;
  if (method === 'GET') return isItem ? 1 : nested ? 5 : 2;
  return { PUT: 3, DELETE: 8 - depth }[method];
}

function successOf(operation) {
  return { ...requestOf(operation), event: successTests(operation) };
}

/** Creations of the leads and resources to which a folder refers. The folder of each deletes its own. */
function linkedRecords(own, all) {
  const refersTo = (names) =>
    own.some(({ requestBody, parameters }) =>
      names.test(JSON.stringify([requestBody?.content, parameters?.filter(isRequired)])),
    );
  const kinds = [
    ...(refersTo(/"(lead_id|contact_id)"/) ? ['lead'] : []),
    ...(refersTo(/"resource_id"/) || own.some(({ record }) => record === 'resource')
      ? ['resource']
      : []),
  ].filter((kind) => !own.some((operation) => creates(kind, operation)));
  const creations = all.filter((operation) => kinds.some((kind) => creates(kind, operation)));
  return creations.map((operation) => ({
    ...requestOf(operation, { example: 'minimal' }),
    name: `${operation.summary} to link`,
    event: successTests(operation),
  }));
}

function creates(kind, { method, path, record }) {
  return method === 'POST' && record === kind && !path.includes('{');
}

function isRequired({ required }) {
  return required;
}
