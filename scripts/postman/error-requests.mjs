// Requests that show errors: at least one for each operation that creates or gets a record.
import { requestOf } from './request.mjs';
import { errorTests } from './tests.mjs';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** @returns the requests of an operation that show errors */
export function errorRequests(operation) {
  const { method, isItem, record, requestBody, responses } = operation;
  if (method === 'GET' && isItem) {
    return [errorRequest(operation, 404, 'not_found', { id: UNKNOWN_ID })];
  }
  if (method === 'GET' && !responses[404] && !operation.parameters) {
    return [withoutKey(errorRequest(operation, 401, 'unauthorized'))];
  }
  if (method !== 'POST' || !requestBody) return [];
  return [
    errorRequest(operation, 400, 'validation_error', { body: { unknown_field: true } }),
    ...(codesOf(operation, 409).includes('duplicate') && record === 'lead'
      ? [
          errorRequest(operation, 409, 'duplicate', {
            body: { first_name: 'Grace', email: `{{${record}_email}}` },
          }),
        ]
      : []),
  ];
}

function errorRequest(operation, status, code, options) {
  const item = requestOf(operation, options);
  return { ...item, name: `${item.name}: ${code}`, event: errorTests(operation, status, code) };
}

function withoutKey(item) {
  return { ...item, request: { ...item.request, auth: { type: 'noauth' } } };
}

function codesOf({ responses, components }, status) {
  const name = responses[status]?.$ref.split('/').pop();
  const { examples = {} } = components.responses[name]?.content['application/json'] ?? {};
  return Object.keys(examples);
}
