import { defineConfig, run } from 'latitude';
import { messagesExtension } from './messages.extension.js';

await run(defineConfig({ extensions: [messagesExtension] }));
