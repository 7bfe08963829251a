// Loaded before Latitude: its tables of leads then write no events.
import { leadsTable } from '../../dist/src/modules/leads/leads.table.js';

leadsTable.events = undefined;
