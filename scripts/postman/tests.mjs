// The test scripts of the collection. They check a response against the document and store values for later
// requests.

/** Checks a successful response and stores its record in variables. */
export function successTests(operation) {
  const { responses, method, nested, stored } = operation;
  // The first one of a creation is that of a dry run.
  const succeeded = Object.entries(responses).filter(([one]) => one.startsWith('2'));
  const [status, response] = succeeded.at(-1);
  const { schema } = response.content['application/json'];
  const { data } = schema.properties;
  const item = data.items ?? data;
  // The record without the parameters `fields` and `include`.
  const fields = resolve(item.anyOf?.[0] ?? item, operation)?.required ?? [];
  return script([
    ...responseTests(status, response, operation),
    'const answer = pm.response.json();',
    ...(data.items
      ? ["pm.test('answers a page', () => pm.expect(answer).to.have.keys('data', 'meta'));"]
      : []),
    `const record = answer.data${data.items ? '[0]' : ''};`,
    `${data.items ? 'if (record) ' : ''}pm.test('has every field', () => {`,
    `  pm.expect(record).to.include.all.keys(${JSON.stringify(fields)});`,
    '});',
    ...(status === '201' ? storeRecord(stored, fields, response) : []),
    ...(status === '200' && method !== 'GET' && 'ETag' in response.headers
      ? storeEntityTag(stored)
      : []),
    ...(data.items && nested
      ? [`if (record) pm.collectionVariables.set('${nested}_id', record.id);`]
      : []),
  ]);
}

/** Checks an error response. */
export function errorTests(operation, status, code) {
  return script([
    ...responseTests(status, resolve(operation.responses[status], operation), operation),
    'const { error } = pm.response.json();',
    `pm.test('answers the error ${code}', () => pm.expect(error.code).to.equal('${code}'));`,
  ]);
}

function responseTests(status, { headers }, operation) {
  const required = Object.entries(headers)
    .filter(([, header]) => resolve(header, operation).required)
    .map(([name]) => name);
  return [
    `pm.test('answers ${status}', () => pm.response.to.have.status(${status}));`,
    "pm.test('answers JSON', () => pm.response.to.have.header('Content-Type', 'application/json; charset=utf-8'));",
    `for (const name of ${JSON.stringify(required)}) {`,
    '  pm.test(`has the header ${name}`, () => pm.response.to.have.header(name));',
    '}',
  ];
}

function storeRecord(record, fields, { headers }) {
  return [
    `pm.collectionVariables.set('${record}_id', record.id);`,
    ...(fields.includes('email')
      ? [`if (record.email) pm.collectionVariables.set('${record}_email', record.email);`]
      : []),
    ...('ETag' in headers ? storeEntityTag(record) : []),
  ];
}

function storeEntityTag(record) {
  return [`pm.collectionVariables.set('${record}_etag', pm.response.headers.get('ETag'));`];
}

function script(exec) {
  return [{ listen: 'test', script: { type: 'text/javascript', exec } }];
}

function resolve(node, { components }) {
  if (!node?.$ref) return node;
  const [, , kind, name] = node.$ref.split('/');
  return components[kind][name];
}
