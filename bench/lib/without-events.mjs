// Loaded before Latitude: its tables of leads then write no events.
import { Lead } from '../../dist/src/modules/leads/lead.entity.js';
import { tableOf } from '../../dist/src/platform/data/records/tenant-entity.js';

tableOf(Lead).events = undefined;
