import { Lead, TenantEntity } from 'latitude';
import { NoteDto, SORTS } from './notes.dto.js';

@TenantEntity('notes', {
  counted: ['status'],
  sorts: SORTS,
  references: { lead_id: { entity: () => Lead, onDelete: 'cascade' } },
})
export class Note extends NoteDto {}
