// Requests that show how errors are answered: at least one for each operation that creates or gets.
import { requestOf } from './request.mjs';
import { fails } from './tests.mjs';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** The refused requests of an operation. */
export function refused(operation) {
  const { method, isItem, record, requestBody, responses } = operation;
  if (method === 'GET' && isItem) {
    return [refusal(operation, 404, 'not_found', { id: UNKNOWN_ID })];
  }
  if (method === 'GET' && !responses[404] && !operation.parameters) {
    return [withoutKey(refusal(operation, 401, 'unauthorized'))];
  }
  if (method !== 'POST' || !requestBody) return [];
  return [
    refusal(operation, 400, 'validation_error', { body: { unknown_field: true } }),
    ...(codesOf(operation, 409).includes('duplicate')
      ? [
          refusal(operation, 409, 'duplicate', {
            body: { first_name: 'Grace', email: `{{${record}_email}}` },
          }),
        ]
      : []),
  ];
}

function refusal(operation, status, code, options) {
  const item = requestOf(operation, options);
  return { ...item, name: `${item.name}: ${code}`, event: fails(operation, status, code) };
}

function withoutKey(item) {
  return { ...item, request: { ...item.request, auth: { type: 'noauth' } } };
}

function codesOf({ responses, components }, status) {
  const name = responses[status]?.$ref.split('/').pop();
  const { examples = {} } = components.responses[name]?.content['application/json'] ?? {};
  return Object.keys(examples);
}
