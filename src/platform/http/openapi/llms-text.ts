import { readFileSync } from 'node:fs';
import type { ParameterObject } from '@nestjs/swagger';
import { OPERATORS } from '../../data/filters/operators.js';
import { documentedErrors } from '../../errors/error-catalogue.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { type OpenApiDocument, type Operation, type Schema, schemaRef } from './model.js';

/** The text, with a comment such as `<!-- operations -->` for each part that is rendered. */
const TEMPLATE = readFileSync(new URL('llms.txt', import.meta.url), 'utf8');

/** Paths that set up a program, and rare ones. The text has no parameters, bodies and schemas of them. */
const ADMINISTRATION =
  /^\/api\/v1\/(custom-fields|keys|grants|me|organizations?|resources|webhooks|leads\/imports)\b|\/(erase|personal-data)$/;

interface Located {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** Renders the OpenAPI document for code assistants (llmstxt.org), in at most 10,000 tokens. */
export function llmsText({ info, tags, paths, components }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Located => ({ path, method, operation })),
  );
  const described = new Set<string>();
  const sections = tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return `### ${name}\n\n${own.map((one) => operationText(one, described)).join('\n')}`;
  });
  const inDetail = JSON.stringify(operations.filter(({ path }) => !ADMINISTRATION.test(path)));
  const schemas = Object.entries(components.schemas)
    .filter(([name]) => inDetail.includes(JSON.stringify(schemaRef(name))))
    .map(([name, schema]) => schemaText(name, schema, described));
  const errors = documentedErrors().map(([code, { status, retryable, message }]) => {
    return `| \`${code}\` | ${status} | ${retryable ? 'yes' : 'no'} | ${message} |`;
  });
  const parts: Readonly<Record<string, string>> = {
    ...{ title: info.title, summary: info.summary, version: info.version },
    introduction: info.description,
    operations: sections.join('\n\n'),
    operators: OPERATORS.join(', '),
    schemas: schemas.join('\n\n'),
    errors: errors.join('\n'),
  };
  return TEMPLATE.replaceAll(/<!-- (\w+) -->/g, (_, part: string) => parts[part] ?? '');
}

/** @param described the parameters that were described already */
function operationText({ path, method, operation }: Located, described: Set<string>): string {
  const { summary, parameters = [], requestBody, responses } = operation;
  const { 'x-required-scope': scope, 'x-further-scopes': further = [] } = operation;
  const scopes = [scope ?? '', ...further].map((each) => `\`${each}\``).join(' and ');
  const keys = path.includes('organizations') ? 'Operator key' : 'Any key';
  const head = `- \`${method.toUpperCase()} ${path}\`: ${summary}. ${scope ? scopes : keys}.`;
  if (ADMINISTRATION.test(path)) return head;
  const body = requestBody?.content['application/json']?.schema;
  const query = parameters.filter((one) => one.in === 'query');
  const isConditional = method === 'post' && parameters.some(({ name }) => name === 'If-Match');
  const parts = [
    head,
    body && `Body ${typeText(body)}.`,
    responseText(responses),
    isConditional && 'Takes `If-Match`.',
    query.length > 0 && `Query: ${query.map((one) => parameterText(one, described)).join('; ')}.`,
  ];
  return parts.filter(Boolean).join(' ');
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

/** The status, if it is not 200, and the type of `data`. */
function responseText(responses: Operation['responses']): string | undefined {
  const [status, response] = Object.entries(responses).find(([one]) => one.startsWith('2')) ?? [];
  if (!response || '$ref' in response) return undefined;
  const schema = response.content?.['application/json']?.schema ?? {};
  const { data } = '$ref' in schema ? {} : (schema.properties ?? {});
  const parts = [status === '200' ? '' : status, data && typeText(data)].filter(Boolean);
  return parts.length > 0 ? `Answers ${parts.join(' ')}.` : undefined;
}

/**
 * Renders the fields of a schema, one per line.
 * @param described lines of earlier schemas, which are not repeated
 */
function schemaText(name: string, schema: Schema, described: Set<string>): string {
  const { properties = {}, required = [] } = schema as JsonSchema;
  const lines = [`### ${name}\n`];
  const known: string[] = [];
  for (const [field, one] of Object.entries(properties)) {
    const label = `\`${field}\`${required.includes(field) ? '' : '?'}`;
    const text = `${boundsText(one as Schema)}${one.description ? `: ${one.description}` : ''}`;
    if (described.has(`${field} ${text}`)) known.push(label);
    else lines.push(`- ${label} ${text}`);
    described.add(`${field} ${text}`);
  }
  if (known.length > 0) lines.push(`- ${known.join(', ')}: as above`);
  return lines.join('\n');
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
    typeText(schema),
    format,
    rangeText(minimum, maximum, ''),
    rangeText(minLength, maxLength, ' characters'),
    rangeText(undefined, maxItems, ' items'),
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ];
  return bounds.filter(Boolean).join(', ');
}

function rangeText(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined && max === undefined) return '';
  if (max === undefined) return `at least ${min}${unit}`;
  return min === undefined ? `up to ${max}${unit}` : `${min} to ${max}${unit}`;
}
