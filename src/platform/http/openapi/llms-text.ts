import type { ParameterObject } from '@nestjs/swagger';
import { documentedErrors } from '../../errors/error-catalogue.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { namesOf } from '../../fields/field.js';
import { OPERATORS } from '../../data/filters/operators.js';
import { ListQuery } from '../../data/lists/list-query.js';
import { type OpenApiDocument, type Operation, type Schema, schemaRef } from './model.js';

const EXAMPLE = `
\`\`\`sh
curl -X POST $BASE_URL/api/v1/leads -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -H "Idempotency-Key: $(uuidgen)" -d '{"first_name":"Grace","email":"grace@example.com"}'
\`\`\`

\`\`\`ts
import { LatitudeClient, LatitudeError } from 'latitude-client'; // in the repository: latitude/client
const client = new LatitudeClient({ baseUrl, apiKey }); // retries 429, 5xx and lost connections, 3 attempts
const lead = await client.leads.create({ first_name: 'Grace' }); // idempotent: a retry creates nothing twice
const { data, meta } = await client.leads.list({ search: 'grace', limit: 20 });
for await (const item of client.leads.all({ status: 'new' })) console.log(item.id);
for await (const { changed, deleted, state } of client.leads.sync(saved)) {} // a copy: all leads, then what has changed
await client.leads.update(lead.id, { company: 'Navy' }); // also get, delete, upsert, batch; client.appointments has cancel
// failures: LatitudeError { status, code, retryable, details, requestId }
\`\`\``;

const ERROR_SHAPE =
  '`{"error": {"code", "message", "retryable", "request_id", "details"?: [{"field", "message", "existing_id"?}]}}`';

const AGENTS = `
\`$BASE_URL/mcp\` serves the Model Context Protocol over Streamable HTTP with the same \`Authorization\`
header. It has a tool for each operation (\`list_leads\`, \`create_lead\`, ...) with the same fields,
scopes, limits and error codes.`;

const QUESTIONS = `
\`filter\` of lists, counts and exports is a JSON object, percent-encoded:
\`{"temperature":"hot","custom_fields.roof_age":{"gte":20},"or":[{"city":"Graz"},{"zip":{"starts_with":"80"}}],"tasks":{"none":{"status":"open"}}}\`.
Its keys are fields of the record, \`custom_fields.KEY\`, \`and\`, \`or\`, \`not\`, and relations: \`tasks\` and \`appointments\` of leads with
\`some\` or \`none\`, \`lead\` of the others. A value alone is \`eq\`. Operators: ${OPERATORS.join(', ')}. Counts by day, week or month are in order of time, others begin with the largest.

Pages in the repository:

- docs/contract/filters.md: fields, operators, relations, limits, and what \`filter_too_broad\` asks for
- docs/contract/counts.md: numbers of records by the values of a field
- docs/contract/custom-fields.md: definitions of custom fields, which rule their values
- docs/contract/duplicates.md: groups of leads that are likely the same person; docs/contract/merge.md: their merge, with a dry run`;

/** Operations that set up a program, and rare ones. The text has no parameters, bodies and schemas of them. */
const ADMINISTRATION =
  /^\/api\/v1\/(custom-fields|keys|grants|me|organizations?|resources|webhooks|leads\/imports)\b|\/(erase|personal-data)$/;

/** Renders the OpenAPI document for code assistants (llmstxt.org), in at most 10,000 tokens. */
export function llmsText(document: OpenApiDocument): string {
  const { info, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const described = new Set<string>();
  const sections = tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const texts = own.map((one) => operationText(one, described, listAbove(one, paths)));
    return `### ${name}\n\n${texts.join('\n')}`;
  });
  const isOfAdministration = ({ path }: LocatedOperation) => ADMINISTRATION.test(path);
  const ofRecords = JSON.stringify(operations.filter((one) => !isOfAdministration(one)));
  const administrative = JSON.stringify(operations.filter(isOfAdministration));
  const schemas = Object.entries(components.schemas).map(([name, schema]) => {
    const reference = JSON.stringify(schemaRef(name));
    const isLeftOut = administrative.includes(reference) && !ofRecords.includes(reference);
    return isLeftOut ? '' : schemaText(name, schema, described);
  });
  return [
    `# ${info.title}`,
    `> ${info.summary}. REST API with JSON, version ${info.version}.`,
    '`$BASE_URL` is the URL of this service without a path, and `$KEY` is an API key.',
    info.description,
    `## Examples\n${EXAMPLE}`,
    `## Operations\n\nRecords are in \`data\` of the response. \`?\` marks optional parts. A parameter is described where it occurs first.
Lists with \`after\` can be read by cursor: \`after=\` at first, then \`meta.next\`, until \`meta.has_more\` is false. \`fields\`
are names, separated by commas, or \`*\`. Where a path or body names a record, 404 is possible, in writes also 409, 412 and 422.`,
    ...sections,
    `## Questions\n${QUESTIONS}`,
    '## Schemas',
    ...schemas.filter((text) => text !== ''),
    `## Errors\n\n${ERROR_SHAPE}\n\n${errorTable()}`,
    `## Agents\n${AGENTS}`,
    `## More\n\n- [OpenAPI 3.1](openapi.json): every detail, for generators\n- [Reference](docs): in a browser`,
    '',
  ].join('\n\n');
}

interface LocatedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** The headers of requests that the introduction describes, by the method. */
const USUAL_HEADERS: Readonly<Record<string, string>> = {
  get: 'If-None-Match',
  post: 'Idempotency-Key',
  put: 'If-Match',
  delete: 'If-Match',
};

/** The parameters of lists that select no records. */
const PAGING: ReadonlySet<string> = new Set([
  ...namesOf(ListQuery),
  ...['sort_by', 'after', 'before', 'fields'],
]);

/** Parameters of the same identity mean the same. */
function identityOf({ name, schema }: ParameterObject): string {
  return JSON.stringify([name, schema]);
}

/** The list of an operation about the records of a list, such as their export. */
function listAbove({ path, method }: LocatedOperation, paths: OpenApiDocument['paths']) {
  return method === 'get' ? paths[path.replace(/\/[^/]+$/, '')]?.get : undefined;
}

/**
 * @param described parameters that were described already
 * @param list the list whose filters the operation takes
 */
function operationText(
  { path, method, operation }: LocatedOperation,
  described: Set<string>,
  list: Operation | undefined,
): string {
  const { summary, parameters = [], requestBody, responses } = operation;
  const { 'x-required-scope': scope, 'x-further-scopes': further = [] } = operation;
  const scopes = [scope ?? '', ...further].map((each) => `\`${each}\``).join(' and ');
  const filters = list?.parameters?.filter(({ name }) => !PAGING.has(name)).map(identityOf);
  const taken = parameters.filter(({ in: where }) => where === 'query');
  const query = taken.filter((one) => !filters?.includes(identityOf(one)));
  const ofList = query.length < taken.length ? ['the filters of the list'] : [];
  const headers = parameters.filter(
    ({ in: where, name }) => where === 'header' && name !== USUAL_HEADERS[method],
  );
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  const access = scope ? `Scope ${scopes}.` : 'Any key.';
  const head = `- \`${method.toUpperCase()} ${path}\`: ${summary}.`;
  if (ADMINISTRATION.test(path))
    return `${head} ${path.includes('organizations') ? 'Operator key.' : access}`;
  const body = requestBody?.content['application/json']?.schema;
  return [
    `${head} ${access}`,
    body && ` Body ${typeText(body)}.`,
    success && ` Answers ${success[0]} ${responseText(success[1])}.`,
    headers.length > 0 && ` Headers: ${headers.map(({ name }) => `\`${name}\`?`).join(', ')}.`,
    taken.length > 0 &&
      ` Query: ${[...query.map((one) => parameterText(one, described)), ...ofList].join('; ')}.`,
  ]
    .filter((part) => typeof part === 'string')
    .join('');
}

function parameterText(parameter: ParameterObject, described: Set<string>): string {
  const { name, schema = {}, required = false, description = '' } = parameter;
  // The description of what must be given names the values that are no enumeration.
  if (required) return `\`${name}\` ${boundsText(schema)}: ${description.replace(/\.$/, '')}`;
  const text = `\`${name}\`? ${boundsText(schema)}`;
  if (described.has(text)) return `\`${name}\`?`;
  described.add(text);
  return text;
}

function responseText(response: Operation['responses'][string]): string {
  if ('$ref' in response) return '';
  const schema = response.content?.['application/json']?.schema;
  if (!schema || '$ref' in schema) return '';
  const { data, meta } = schema.properties ?? {};
  return data ? `${typeText(data)}${meta ? ' with `meta`' : ''}` : '';
}

/**
 * Renders the fields of a schema, one per line.
 * @param described lines of earlier schemas, which are not repeated
 */
function schemaText(name: string, schema: Schema, described: Set<string>): string {
  if ('$ref' in schema || !schema.properties || name === 'Error') return '';
  const { properties, required = [] } = schema;
  const known: string[] = [];
  const lines = Object.entries(properties).flatMap(([field, one]) => {
    const label = `\`${field}\`${required.includes(field) ? '' : '?'}`;
    const text = '$ref' in one || !one.description ? '' : `: ${one.description}`;
    const line = `${boundsText(one)}${text}`;
    if (described.has(`${field} ${line}`)) {
      known.push(label);
      return [];
    }
    described.add(`${field} ${line}`);
    return [`- ${label} ${line}`];
  });
  if (known.length > 0) lines.push(`- ${known.join(', ')}: as above`);
  return [`### ${name}`, '', ...lines].join('\n');
}

function typeText(schema: Schema): string {
  if ('$ref' in schema) return schema.$ref.split('/').pop() ?? '';
  // What is returned without the parameters `fields` and `include`.
  if (schema.anyOf?.[0]) return typeText(schema.anyOf[0]);
  const { type, items, enum: values } = schema as JsonSchema & { items?: Schema };
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (items) return 'enum' in items ? `(${typeText(items)})[]` : `${typeText(items)}[]`;
  return [type ?? 'any'].flat().join(' | ');
}

/** Renders the type of a value with its bounds. */
function boundsText(schema: Schema): string {
  if ('$ref' in schema) return typeText(schema);
  const { minimum, maximum, minLength, maxLength, maxItems, format } = schema;
  const bounds = [
    format,
    rangeText(minimum, maximum, ''),
    rangeText(minLength, maxLength, ' characters'),
    rangeText(undefined, maxItems, ' items'),
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ].filter((part) => typeof part === 'string' && part !== '');
  return [typeText(schema), ...bounds].join(', ');
}

/** A larger bound is only that of what can be stored. */
const LARGEST_USEFUL_BOUND = 1_000_000;

function rangeText(min: number | undefined, max: number | undefined, unit: string): string {
  if (max !== undefined && max > LARGEST_USEFUL_BOUND) return rangeText(min, undefined, unit);
  if (min === undefined && max === undefined) return '';
  if (max === undefined) return `at least ${min}${unit}`;
  return min === undefined ? `up to ${max}${unit}` : `${min} to ${max}${unit}`;
}

function errorTable(): string {
  const rows = documentedErrors().map(([code, { status, retryable, message }]) => {
    return `| \`${code}\` | ${status} | ${retryable ? 'yes' : 'no'} | ${message} |`;
  });
  return ['| Code | Status | Retryable | When |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
