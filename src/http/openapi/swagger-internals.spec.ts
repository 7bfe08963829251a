import 'reflect-metadata';
import { Controller, Get } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { ApiExtraModels, ApiProperty, SwaggerModule } from '@nestjs/swagger';

class NoteDto {
  @ApiProperty() text: string;
  size: number;

  static _OPENAPI_METADATA_FACTORY() {
    return { size: { type: 'integer', minimum: 1, required: true } };
  }
}

@Controller('notes')
class NotesController {
  @Get()
  @ApiExtraModels(NoteDto)
  list() {
    return [];
  }
}

describe('the internals of @nestjs/swagger that the OpenAPI document relies on', () => {
  const wrapper = { instance: new NotesController(), metatype: NotesController };
  const module = { controllers: new Map([['', wrapper]]), metatype: class {}, imports: new Set() };
  const application = {
    container: { getModules: () => new Map([['', module]]) },
    config: new ApplicationConfig(),
    getHttpAdapter: () => ({ getType: () => 'express' }),
  };
  const { paths, components } = SwaggerModule.createDocument(application as never, {
    openapi: '3.1.0',
    info: { title: '', version: '' },
  });

  it('createDocument reads the modules of an object that is not an application', () => {
    expect(Object.keys(paths)).toEqual(['/notes']);
  });

  it('a class can describe properties in the static method of the compiler plugin', () => {
    expect(components?.schemas?.NoteDto).toEqual({
      type: 'object',
      properties: { text: { type: 'string' }, size: { type: 'integer', minimum: 1 } },
      required: ['text', 'size'],
    });
  });
});
