import { setFlagsFromString } from 'node:v8';

// By default V8 allocates some objects of each PostgreSQL result in the old generation. They retain
// their rows until the next full collection: 15 KB of garbage for each list.
setFlagsFromString('--no-allocation-site-pretenuring');

// By default the heap can grow to four times the live objects between two full collections. With 2.25 times, the
// process needs 100 MiB less under load. A loss of speed was not distinguishable from noise.
setFlagsFromString('--heap-growing-percent=125');
