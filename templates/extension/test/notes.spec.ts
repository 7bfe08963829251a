import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  TestApp,
  type Tenant,
} from 'latitude/testing';
import { acmeExtension } from '../src/acme.extension.js';
import type { NoteDto } from '../src/notes.dto.js';

const NOTES = '/api/v1/notes';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ extensions: [acmeExtension] });
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

async function createNote({ api }: Tenant): Promise<NoteDto> {
  const lead = await createLead(api);
  return dataOf(await api.post(NOTES, { lead_id: lead.id, text: 'Call back' }), 201);
}

describe('POST /api/v1/notes', () => {
  it('creates a note that the list contains', async () => {
    const note = await createNote(tenant);
    const { body } = await tenant.api.get(`${NOTES}?status=open`);
    expect(body).toMatchObject({ data: [note], meta: { total: 1 } });
  });

  it('answers 400 that names the missing field', async () => {
    const lead = await createLead(tenant.api);
    expectInvalid(await tenant.api.post(NOTES, { lead_id: lead.id }), 'text');
  });

  it('answers 404 for a lead of another organization', async () => {
    const other = await app.organization();
    const lead = await createLead(other.api);
    const response = await tenant.api.post(NOTES, { lead_id: lead.id, text: 'Call back' });
    expectError(response, 404, 'lead_not_found');
  });
});

describe('GET /api/v1/notes', () => {
  it('finds notes by a text that they contain and by the time of their creation', async () => {
    const { created_at } = await createNote(tenant);
    const totalOf = async (query: Record<string, string>) => {
      const { body } = await tenant.api.get(`${NOTES}?${new URLSearchParams(query)}`);
      return (body as { meta: { total: number } }).meta.total;
    };
    expect(await totalOf({ search: 'BACK' })).toBe(1);
    expect(await totalOf({ search: '%' })).toBe(0);
    expect(await totalOf({ search: '' })).toBe(1);
    expect(await totalOf({ created_after: String(created_at) })).toBe(1);
    expect(await totalOf({ created_before: String(created_at) })).toBe(0);
  });
});

describe('PUT and DELETE /api/v1/notes/:id', () => {
  it('change and delete a note', async () => {
    const { id } = await createNote(tenant);
    const changed = await tenant.api.put(`${NOTES}/${id}`, { status: 'done' });
    expect(dataOf<NoteDto>(changed).status).toBe('done');
    expect(await tenant.api.put(`${NOTES}/${id}`, {})).toMatchObject({ body: changed.body });
    await tenant.api.delete(`${NOTES}/${id}`);
    expectError(await tenant.api.get(`${NOTES}/${id}`), 404, 'not_found');
  });
});
