import { defineExtension } from 'latitude';
import { Note } from './note.entity.js';
import { Notes1800000000000 } from './notes.migration.js';
import { NotesModule } from './notes.module.js';

export const acmeExtension = defineExtension({
  name: 'acme',
  compatibleWith: '^0.4',
  module: NotesModule,
  scopes: ['notes:read', 'notes:write'],
  migrations: [Notes1800000000000],
  entities: [Note],
});

declare module 'latitude' {
  interface RegisteredExtensions {
    acme: typeof acmeExtension;
  }
}
