import { Body, Controller, Get, Module, Param, Post } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AnyKey, RequireScope } from '../../../src/platform/http/routes/access.js';
import { ApiRoute } from '../../../src/platform/http/routes/api-route.decorator.js';
import { DeletedDto } from '../../../src/platform/fields/deleted.dto.js';
import { Text } from '../../../src/platform/fields/kinds/kinds.js';
import type { OpenApiDocument } from '../../../src/platform/http/openapi/model.js';
import type { RestPlan } from '../../../src/platform/http/openapi/routes.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { isLatitudeController } from '../../../src/platform/http/routes/api-controller.decorator.js';
import { DECLARED_ROUTES } from '../../support/declared-routes.js';
import { documentOf } from '../../support/openapi.js';

class NoteDto {
  @Text({ max: 10, required: true }) note: string;
}

const OtherNoteDto = { NoteDto: class NoteDto extends DeletedDto {} }.NoteDto;

@Controller('api/v1/things/:thing/notes')
class ThingNotesController {
  @Post()
  @RequireScope('leads:write')
  @ApiRoute({ summary: 'Add a note', response: NoteDto, errors: ['compliance_blocked'] })
  add(@Param('thing') _: string, @Body() note: NoteDto) {
    return note;
  }

  @Get('other')
  @AnyKey()
  @ApiRoute({ summary: 'Show another', response: OtherNoteDto })
  other() {
    return { id: randomUUID(), deleted: true };
  }

  @Get()
  @AnyKey()
  bare() {
    return 1;
  }

  // @ts-expect-error The compiler checks the declared response.
  @ApiRoute({ summary: 'Lie', response: NoteDto })
  lie() {
    return { id: randomUUID() };
  }
}

@Module({ controllers: [ThingNotesController] })
class ThingsModule {}

describe('the routes of Latitude', () => {
  it('are described without @nestjs/swagger', () => {
    expect(DECLARED_ROUTES.length).toBeGreaterThan(50);
    const isOfTeam = ({ controller }: RestPlan) => !isLatitudeController(controller);
    expect(DECLARED_ROUTES.filter(isOfTeam)).toEqual([]);
  });
});

describe('the OpenAPI document of a module of a team', () => {
  let document: OpenApiDocument;

  beforeAll(async () => {
    const extended = await TestApp.start({ modules: [ThingsModule] });
    document = await documentOf(extended);
    await extended.stop();
  });

  it('has the routes of the module', () => {
    const { post } = document.paths['/api/v1/things/{thing}/notes']!;
    expect(post).toMatchObject({
      operationId: 'thingNotesAdd',
      tags: ['ThingNotes'],
      'x-required-scope': 'leads:write',
      parameters: [
        { name: 'thing', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'Idempotency-Key', in: 'header', required: false },
      ],
      requestBody: { content: { 'application/json': { schema: { $ref: expect.anything() } } } },
    });
    const statuses = '201 400 401 403 404 408 409 413 415 417 422 429 431 500 503'.split(' ');
    expect(Object.keys(post!.responses)).toEqual(statuses);
  });

  it('has routes without a declared response', () => {
    const { get } = document.paths['/api/v1/things/{thing}/notes']!;
    expect(get).toMatchObject({
      summary: 'thingNotesBare',
      responses: {
        200: { content: { 'application/json': { schema: { properties: { data: {} } } } } },
      },
    });
  });

  it('numbers the schemas of DTOs with the same name', () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Note', 'Note2', 'Note3']),
    );
  });
});
