import { setFlagsFromString } from 'node:v8';

// V8 would make some objects of each answer of PostgreSQL in the space of old ones, which keeps the
// rows that they point to until that is collected: 15 KB of garbage for each list.
setFlagsFromString('--no-allocation-site-pretenuring');
