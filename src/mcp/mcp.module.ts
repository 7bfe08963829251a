import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuthModule } from '../auth/auth.module.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { Completions } from './prompts/completions.js';
import { DeclaredMethods } from './protocol/declared-methods.js';
import { McpExchange } from './protocol/exchange.js';
import { KeyWatch } from './sessions/session-revalidation.js';
import { Listeners } from './subscriptions/listeners.js';
import { Listening } from './subscriptions/listening.js';
import { McpController } from './mcp.controller.js';
import { Prompts } from './prompts/prompts.js';
import { Resources } from './resources/resources.js';
import { Sessions } from './sessions/sessions.js';
import { ToolRegistry } from './tools/tool-registry.js';
import { ToolRunner } from './tools/tool-runner.js';
import { WhoamiTool } from './tools/whoami.tool.js';

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
