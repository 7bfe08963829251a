#!/usr/bin/env node
import 'reflect-metadata';
import { runCommandLine } from './cli/command-line.js';
import { defineConfig } from './extension/config.js';

process.exit(await runCommandLine(defineConfig(), process.argv.slice(2)));
