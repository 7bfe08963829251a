import { run } from './ops/server/run.js';
import { defineConfig } from './platform/extension/config.js';

await run(defineConfig(), []);
