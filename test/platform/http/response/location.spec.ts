import { Body, Controller, Get, Header, Module, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { RequireScope } from '../../../../src/platform/http/routes/access.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { Id } from '../../../../src/platform/http/request/id.decorator.js';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

class NoteDto {
  @Text({ max: 50, required: true }) text: string;
}

/** Notes are created and read below a lead. */
@Controller(`${LEADS}/:lead_id/notes`)
class NotesController {
  @Post()
  @RequireScope('leads:write')
  create(@Body() note: NoteDto) {
    return { id: uuidv7(), ...note };
  }

  @Get(':id')
  @RequireScope('leads:read')
  get(@Id() id: string) {
    return { id };
  }
}

/** Quotes are created below a lead and have their own GET route. */
@Controller('api/v1')
class QuotesController {
  @Post('leads/:lead_id/quotes')
  @RequireScope('leads:write')
  create(@Body() note: NoteDto) {
    return { id: uuidv7(), ...note };
  }

  @Get('quotes/:quote_id')
  @RequireScope('leads:read')
  get(@Param('quote_id') id: string) {
    return { id };
  }
}

/** Routes that set their own Location. */
@Controller('api/v1/letters')
class LettersController {
  @Post('set')
  @RequireScope('leads:write')
  set(@Body() note: NoteDto, @Res({ passthrough: true }) response: Response) {
    response.setHeader('Location', 'https://letters.example/7');
    return { id: uuidv7(), ...note };
  }

  @Post('declared')
  @RequireScope('leads:write')
  @Header('Location', '/letters/latest')
  declared(@Body() note: NoteDto) {
    return { id: uuidv7(), ...note };
  }
}

/** No route reads the files that are created. */
@Controller('api/v1/files')
class FilesController {
  @Post(':name')
  @RequireScope('leads:write')
  create(@Body() note: NoteDto) {
    return { id: uuidv7(), ...note };
  }
}

@Module({ controllers: [NotesController, QuotesController, LettersController, FilesController] })
class NestedModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [NestedModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

/** Posts twice with one idempotency key. Returns the response and its replay. */
async function postTwice(path: string) {
  const headers = { 'Idempotency-Key': uuidv7() };
  const first = await tenant.api.post(path, { text: 'Hello' }, { headers });
  const replay = await tenant.api.post(path, { text: 'Hello' }, { headers });
  expect([first.status, replay.status]).toEqual([201, 201]);
  const { id } = (first.body as { data: { id: string } }).data;
  return { id, locations: [first, replay].map(({ headers: sent }) => sent.get('location')) };
}

describe('the Location of a POST', () => {
  it('is below the path of the POST if a GET route is there', async () => {
    const lead = await createLead(tenant.api);
    const { id, locations } = await postTwice(`${LEADS}/${lead.id}/notes`);
    const path = `${LEADS}/${lead.id}/notes/${id}`;
    expect(locations).toEqual([path, path]);
    expect(await tenant.api.get(path)).toMatchObject({ status: 200 });
  });

  it('is the path of the outer GET route for a nested POST', async () => {
    const lead = await createLead(tenant.api);
    const { id, locations } = await postTwice(`${LEADS}/${lead.id}/quotes`);
    expect(locations).toEqual([`/api/v1/quotes/${id}`, `/api/v1/quotes/${id}`]);
    expect(await tenant.api.get(`/api/v1/quotes/${id}`)).toMatchObject({ status: 200 });
  });

  it('is below the path of the request if no GET route finds the record', async () => {
    const { id, locations } = await postTwice('/api/v1/files/a:b');
    expect(locations).toEqual([`/api/v1/files/a:b/${id}`, `/api/v1/files/a:b/${id}`]);
  });

  it.each([
    ['set', 'https://letters.example/7'],
    ['declared', '/letters/latest'],
  ])('is the Location that the route has set %s', async (way, location) => {
    const plain = await tenant.api.post(`/api/v1/letters/${way}`, { text: 'Hello' });
    expect(plain.headers.get('location')).toBe(location);
    const { locations } = await postTwice(`/api/v1/letters/${way}`);
    expect(locations).toEqual([location, location]);
  });
});
