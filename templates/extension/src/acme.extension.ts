import { defineExtension } from 'latitude';
import { NotesModule } from './notes.module.js';
import { Notes1800000000000, notesTable } from './notes.table.js';

export const acmeExtension = defineExtension({
  name: 'acme',
  compatibleWith: '^0.3',
  module: NotesModule,
  scopes: ['notes:read', 'notes:write'],
  migrations: [Notes1800000000000],
  tables: [notesTable],
});

declare module 'latitude' {
  interface RegisteredExtensions {
    acme: typeof acmeExtension;
  }
}
