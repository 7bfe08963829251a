import { run } from './run.js';
import { defineConfig } from './extension/config.js';

await run(defineConfig(), []);
