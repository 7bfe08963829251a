import pg from 'pg';
import { translateDriverError } from './driver-error.js';

it.each([
  ['of a table', 'leads_email_key', 'leads_email_key'],
  ['of a partition', 'leads_email_key_p3', 'leads_email_key'],
  ['of a shard', 'leads_email_key_102008', 'leads_email_key'],
  ['that ends with a number', 'quotes_number_2', 'quotes_number_2'],
])('names the constraint %s that a row violates', (_, constraint, name) => {
  const error = new pg.DatabaseError('duplicate key', 0, 'error');
  Object.assign(error, { code: '23505', constraint });
  expect(translateDriverError(error, 'create_failed')).toMatchObject({ constraint: name });
});
