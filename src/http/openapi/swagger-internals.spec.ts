import 'reflect-metadata';
import { Controller, Get } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { ApiProperty, ApiTags, DECORATORS, SwaggerModule } from '@nestjs/swagger';

class NoteDto {
  @ApiProperty() text: string;
  size: number;

  static _OPENAPI_METADATA_FACTORY() {
    return { size: { type: 'integer', minimum: 1, required: true } };
  }
}

@ApiTags('Notes')
@Controller('notes')
class NotesController {
  @Get()
  list() {
    return [];
  }

  @Get('hidden')
  hidden() {
    return [];
  }
}

describe('the internals of @nestjs/swagger that the OpenAPI document relies on', () => {
  const list = Reflect.get(NotesController.prototype, 'list') as object;
  Reflect.defineMetadata(DECORATORS.API_INCLUDE_ENDPOINT, true, list);
  Reflect.defineMetadata(DECORATORS.API_EXTENSION, { 'x-handler': 0 }, list);
  Reflect.defineMetadata(DECORATORS.API_EXTRA_MODELS, [NoteDto], list);
  const wrapper = { instance: new NotesController(), metatype: NotesController };
  const module = { controllers: new Map([['', wrapper]]), metatype: class {}, imports: new Set() };
  const application = {
    container: { getModules: () => new Map([['', module]]) },
    config: new ApplicationConfig(),
    getHttpAdapter: () => ({ getType: () => 'express' }),
  };
  const { paths, components } = SwaggerModule.createDocument(
    application as never,
    { openapi: '3.1.0', info: { title: '', version: '' } },
    { onlyIncludeDecoratedEndpoints: true },
  );

  it('createDocument reads the modules of an object that is no application', () => {
    expect(Object.keys(paths)).toEqual(['/notes']);
  });

  it('the metadata of an operation has the extension and the class has the tags', () => {
    expect(paths['/notes']?.get).toMatchObject({ 'x-handler': 0, tags: ['Notes'] });
    expect(Reflect.getMetadata(DECORATORS.API_TAGS, NotesController)).toEqual(['Notes']);
  });

  it('a class can describe properties in the static method of the compiler plugin', () => {
    expect(components?.schemas?.NoteDto).toEqual({
      type: 'object',
      properties: { text: { type: 'string' }, size: { type: 'integer', minimum: 1 } },
      required: ['text', 'size'],
    });
  });
});
