import { defineConfig, run } from 'latitude';
import { acmeExtension } from './acme.extension.js';

await run(defineConfig({ extensions: [acmeExtension] }));
