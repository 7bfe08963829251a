import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuthModule } from '../auth/auth.module.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { Completions } from './completions.js';
import { DeclaredMethods } from './declared-methods.js';
import { McpExchange } from './exchange.js';
import { KeyWatch } from './key-watch.js';
import { Listeners } from './listeners.js';
import { Listening } from './listening.js';
import { McpController } from './mcp.controller.js';
import { Prompts } from './prompts.js';
import { Resources } from './resources.js';
import { Sessions } from './sessions.js';
import { ToolRegistry } from './tool-registry.js';
import { ToolRunner } from './tool-runner.js';
import { WhoamiTool } from './whoami.tool.js';

/** The endpoint for AI agents; its tools stand beside the services of the features. */
@Module({
  imports: [AuthModule, DiscoveryModule, RateLimitModule],
  controllers: [McpController],
  providers: [
    Completions,
    DeclaredMethods,
    KeyWatch,
    Listeners,
    Listening,
    McpExchange,
    Prompts,
    Resources,
    Sessions,
    ToolRegistry,
    ToolRunner,
    WhoamiTool,
  ],
})
export class McpModule {}
