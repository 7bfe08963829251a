#!/usr/bin/env node
import 'reflect-metadata';
import { runCommandLine } from './ops/cli/command-line.js';
import { defineConfig } from './platform/extension/config.js';

process.exit(await runCommandLine(defineConfig(), process.argv.slice(2)));
