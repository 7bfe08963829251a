import type { ResponseObject } from '@nestjs/swagger';
import { isScope } from '../../access/scopes.js';
import { isUpdate } from '../../fields/field.js';
import { errorResponsesOf } from './errors.js';
import {
  acceptsIdempotencyKey,
  type HeaderName,
  headersWith,
  optionalHeader,
  requestHeadersOf,
} from './headers.js';
import { JSON_TYPE, type Operation } from './model.js';
import { successesOf } from './responses.js';
import type { Route } from './routes.js';
import type { Schemas } from './schemas.js';

/** The components to which operations refer: the schemas, and the error responses so far. */
export interface Components {
  readonly schemas: Schemas;
  readonly responses: Record<string, ResponseObject>;
}

const NOT_MODIFIED: ResponseObject = { description: 'Not Modified', headers: headersWith('ETag') };

/**
 * Adds to an operation what follows from rules of all routes: the required scope, the headers of requests and responses,
 * and the errors.
 */
export function completeOperation(
  route: Route,
  operation: Operation,
  { schemas, responses: errors }: Components,
): Operation {
  const { access, furtherScopes, method, takesNoBody } = route;
  const isRecord = answersRecord(route, operation, schemas);
  const { parameters: declared = [], ...others } = operation;
  const given = [...declared, ...requestHeadersOf(route, isRecord)];
  // A decorator of a team can describe the same parameter.
  const parameters = new Map(given.map((one) => [`${one.in} ${one.name.toLowerCase()}`, one]));
  const successes = successesOf(route).map((status) => {
    const response = operation.responses[status] as ResponseObject;
    const headers = { ...successHeadersOf(route, isRecord, status), ...response.headers };
    return [status, { ...response, headers }] as const;
  });
  return {
    ...others,
    description: descriptionOf(route, operation),
    security: [{ apiKey: [] }],
    ...(isScope(access) && { 'x-required-scope': access }),
    ...(furtherScopes.length > 0 && { 'x-further-scopes': furtherScopes }),
    ...(parameters.size > 0 && { parameters: [...parameters.values()] }),
    responses: {
      ...(method === 'get' && isRecord && { 304: NOT_MODIFIED }),
      ...errorResponsesOf(route, operation.requestBody !== undefined || takesNoBody, errors),
      ...operation.responses,
      ...Object.fromEntries(successes),
    },
  };
}

/** Whether the response is one record, which has an `id`. */
function answersRecord(
  { method, status }: Route,
  { responses }: Operation,
  schemas: Schemas,
): boolean {
  const { content } = responses[status] as ResponseObject;
  const { data } = schemas.resolve(content?.[JSON_TYPE]?.schema).properties ?? {};
  // The first form of a record is the record itself.
  const [record = data] = schemas.resolve(data).anyOf ?? [];
  return method !== 'delete' && 'id' in (schemas.resolve(record).properties ?? {});
}

function descriptionOf(route: Route, { description }: Operation): string {
  const { method, input } = route;
  const body = input?.body?.type;
  const sentences = [
    description,
    body && isUpdate(body) && 'Changes only the given fields; `null` clears a nullable field.',
    `${accessText(route)}; counts as a ${method === 'get' ? 'read' : 'write'}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

function accessText({ access, furtherScopes }: Route): string {
  if (access === 'any-key') return 'Accepts any valid key';
  if (access === 'operator') return 'Requires an operator key';
  const scopes = [access, ...furtherScopes].map((each) => `\`${each}\``).join(' and ');
  return `Requires the ${furtherScopes.length > 0 ? 'scopes' : 'scope'} ${scopes}`;
}

function successHeadersOf(
  route: Route,
  isRecord: boolean,
  status: number,
): ResponseObject['headers'] {
  const { includes, dryRun } = route.documentation ?? {};
  const names: (HeaderName | false)[] = [
    isRecord && status === 201 && 'Location',
    isRecord && 'ETag',
    acceptsIdempotencyKey(route) && 'Idempotency-Replayed',
  ];
  // A record with included fields, and the response to a dry run, have no entity tag.
  const mayHaveNoTag = isRecord && (includes ?? dryRun);
  return {
    ...headersWith(...names.filter((name) => name !== false)),
    ...(mayHaveNoTag && optionalHeader('ETag')),
  };
}
