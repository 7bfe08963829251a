import { run } from './server/run.js';
import { defineConfig } from './extension/config.js';

await run(defineConfig(), []);
