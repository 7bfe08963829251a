// Makes a request of the collection from an operation of the OpenAPI document.

/** Variables for values that must be unique, or that earlier requests have stored. */
const FIELDS = {
  email: '{{$guid}}@example.com',
  phone: '{{$randomPhoneNumber}}',
  external_id: '{{$guid}}',
  lead_id: '{{lead_id}}',
  contact_id: '{{lead_id}}',
  resource_id: '{{resource_id}}',
};

const UNIQUE = ['email', 'phone', 'external_id'];

const PARAMETER = /\{(.*?)\}/g;

const DEFAULT_EXAMPLE = 'complete';

/**
 * @param options.example name of the example that is used as the body
 * @param options.body a body instead of an example
 * @param options.id an id instead of that of the last created record
 */
export function requestOf(operation, { example = DEFAULT_EXAMPLE, body, id } = {}) {
  const { summary, description, method, requestBody } = operation;
  const json = body ?? bodyOf(requestBody, example, method === 'PUT');
  return {
    name: summary,
    request: {
      method,
      description,
      header: headersOf(operation, json !== undefined),
      url: urlOf(operation, id),
      ...(json !== undefined && {
        body: {
          mode: 'raw',
          raw: JSON.stringify(json, undefined, 2),
          options: { raw: { language: 'json' } },
        },
      }),
    },
    response: [],
  };
}

/** An update does not change e-mail address and phone number, because a later request needs them for a duplicate. */
function bodyOf(requestBody, example, isUpdate) {
  const examples = requestBody?.content['application/json'].examples;
  if (!examples) return undefined;
  const { value } = examples[example] ?? Object.values(examples)[0];
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !isUpdate || !UNIQUE.includes(field))
      .map(([field, given]) => [field, FIELDS[field] ?? given]),
  );
}

function headersOf({ parameters = [], stored }, hasBody) {
  const sent = {
    'Idempotency-Key': '{{$guid}}',
    'If-Match': `{{${stored}_etag}}`,
  };
  const headers = parameters.filter((parameter) => parameter.in === 'header');
  return [
    ...(hasBody ? [{ key: 'Content-Type', value: 'application/json' }] : []),
    ...headers.map(({ name, description, example }) => ({
      key: name,
      value: sent[name] ?? String(example),
      description,
      ...(!(name in sent) && { disabled: true }),
    })),
  ];
}

/** Optional parameters have an example and are disabled. */
function urlOf({ path, record, parameters = [] }, id = `{{${record}_id}}`) {
  const steps = path.slice(1).split('/');
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, description, example, required }) => ({
      key: name,
      value: FIELDS[name] ?? String(example),
      description,
      ...(!required && { disabled: true }),
    }));
  const variables = [...path.matchAll(PARAMETER)].map(([, key]) => {
    return { key, value: key === 'id' ? id : `{{${key}}}` };
  });
  return {
    raw: `{{base_url}}/${steps.join('/').replaceAll(PARAMETER, ':$1')}`,
    host: ['{{base_url}}'],
    path: steps.map((step) => step.replace(PARAMETER, ':$1')),
    ...(query.length > 0 && { query }),
    ...(variables.length > 0 && { variable: variables }),
  };
}
