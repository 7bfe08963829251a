import { setFlagsFromString } from 'node:v8';

// By default V8 allocates some objects of each PostgreSQL result in the old generation. They retain
// their rows until the next full collection: 15 KB of garbage for each list.
setFlagsFromString('--no-allocation-site-pretenuring');
