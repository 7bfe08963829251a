// The scripts that run in Postman behind an answer: they hold it to the document, and store what later
// requests use.

/** The answer is the one of success, and its record is kept in variables. */
export function succeeds(operation) {
  const { responses, method, record, isItem } = operation;
  const [status, response] = Object.entries(responses).find(([one]) => one.startsWith('2'));
  const { schema } = response.content['application/json'];
  const { data } = schema.properties;
  const item = data.items ?? data;
  const fields = resolve(item, operation)?.required ?? [];
  return script([
    ...answered(status, response, operation),
    'const answer = pm.response.json();',
    ...(data.items
      ? ["pm.test('answers a page', () => pm.expect(answer).to.have.keys('data', 'meta'));"]
      : []),
    `const record = answer.data${data.items ? '[0]' : ''};`,
    `${data.items ? 'if (record) ' : ''}pm.test('has every field', () => {`,
    `  pm.expect(record).to.include.all.keys(${JSON.stringify(fields)});`,
    '});',
    ...(status === '201' ? stored(record, fields) : []),
    ...(method === 'PUT' && isItem ? storedTag(record) : []),
  ]);
}

/** The answer is this error. */
export function fails(operation, status, code) {
  return script([
    ...answered(status, resolve(operation.responses[status], operation), operation),
    'const { error } = pm.response.json();',
    `pm.test('answers the error ${code}', () => pm.expect(error.code).to.equal('${code}'));`,
  ]);
}

function answered(status, { headers }, operation) {
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

function stored(record, fields) {
  return [
    `pm.collectionVariables.set('${record}_id', record.id);`,
    ...(fields.includes('email')
      ? [`if (record.email) pm.collectionVariables.set('${record}_email', record.email);`]
      : []),
    ...storedTag(record),
  ];
}

function storedTag(record) {
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
