import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Type } from '@nestjs/common';
import { CreateAppointmentDto } from '../../src/modules/appointments/appointment.dto.js';
import { type Field, fieldsOf } from '../../src/platform/fields/field.js';
import { readInput } from '../../src/platform/fields/input/read-input.js';
import { exampleOf } from '../../src/platform/fields/schema/schema-of.js';
import { CreateLeadDto, LeadListQuery } from '../../src/modules/leads/lead.dto.js';
import { ListQuery } from '../../src/platform/data/lists/list-query.js';
import { CreateTaskDto } from '../../src/modules/tasks/task.dto.js';
import { compare, isLeftToClassValidator } from '../../src/testing/validator-comparison.js';

const SOURCES = path.join(__dirname, '../../src');
/** How many values each class is compared with. */
const VALUES = 40 * Number(process.env.FUZZ_RUNS);

const DTO_FILES = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.dto.ts'))
  .sort();

/** Fields whose rules read only normalized values, and throw an error for most others. They have tests of their own. */
const READ_NORMALIZED: readonly string[] = ['filter', 'fields', 'include'];

/** The classes that a file exports. */
async function dtosIn(file: string): Promise<Type<object>[]> {
  const exported = (await import(path.join(SOURCES, file))) as Record<string, unknown>;
  return Object.values(exported).filter(
    (one): one is Type<object> => typeof one === 'function' && String(one).startsWith('class '),
  );
}

describe('compiled validation of the DTOs of the product', () => {
  it('covers the DTOs of every module', () => {
    for (const name of ['leads/lead', 'appointments/appointment', 'tasks/task', 'auth/me']) {
      expect(DTO_FILES).toContain(path.normalize(`modules/${name}.dto.ts`));
    }
  });

  it.each(DTO_FILES)('reports the same errors as class-validator: %s', async (file) => {
    const dtos = await dtosIn(file);
    expect(dtos).not.toEqual([]);
    for (const dto of dtos) {
      const refused = compare(dto, VALUES);
      const namesWhere = (holds: (field: Field) => boolean) =>
        fieldsOf(dto)
          .filter(holds)
          .map(({ name }) => name);
      const withoutRules = namesWhere(({ rules }) => rules.length === 0);
      const readOnly = namesWhere(({ rules }) => rules.some(({ name }) => name === 'isNeverTaken'));
      for (const [field, times] of refused) {
        // An id in responses accepts any value.
        if (withoutRules.includes(field)) continue;
        if (READ_NORMALIZED.includes(field)) continue;
        expect([dto, field, times]).not.toEqual([dto, field, 0]);
        if (readOnly.includes(field)) expect([dto, field, times]).toEqual([dto, field, VALUES]);
        else expect([dto, field, times]).not.toEqual([dto, field, VALUES]);
      }
    }
  });

  it('reports the same errors as class-validator: ListQuery', () => {
    compare(ListQuery, VALUES);
  });

  it.each<Type<object>>([CreateLeadDto, LeadListQuery, CreateAppointmentDto, CreateTaskDto])(
    'leaves no valid input to class-validator: %p',
    (dto) => {
      const { value, problems } = readInput(dto, exampleOf(dto, 'input')!);
      expect(problems).toEqual([]);
      expect(isLeftToClassValidator(dto, value)).toBe(false);
    },
  );
});
