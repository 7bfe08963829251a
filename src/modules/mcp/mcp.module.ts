import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AccessModule } from '../../platform/access/access.module.js';
import { HttpModule } from '../../platform/http/http.module.js';
import { EventsModule } from '../events/events.module.js';
import { AppsChallengeController } from './apps-challenge.controller.js';
import { CompletionService } from './prompts/completion.service.js';
import { McpMessageHandler } from './protocol/message-handler.js';
import { McpMethods } from './protocol/methods.js';
import { SubscriptionStreams } from './protocol/subscription-streams.js';
import { McpController } from './mcp.controller.js';
import { PromptRegistry } from './prompts/prompt-registry.js';
import { ResourceRegistry } from './resources/resource-registry.js';
import { SessionStore } from './sessions/session-store.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { StoredSubscriptions } from './sessions/stored-subscriptions.js';
import { ConfirmationSecretRepository } from './tools/confirmation-secret.repository.js';
import { Confirmations } from './tools/confirmations.js';
import { ToolExecution } from './tools/tool-execution.js';
import { ToolRegistry } from './tools/tool-registry.js';
import { ToolRunner } from './tools/tool-runner.js';
import { WhoamiTool } from './tools/whoami.tool.js';

/** The endpoint for AI agents. Each feature declares its own tools, resources and prompts. */
@Module({
  imports: [AccessModule, DiscoveryModule, EventsModule, HttpModule],
  controllers: [McpController, AppsChallengeController],
  providers: [
    CompletionService,
    SubscriptionStreams,
    McpMessageHandler,
    PromptRegistry,
    McpMethods,
    ResourceRegistry,
    SessionStore,
    SessionsRepository,
    StoredSubscriptions,
    ConfirmationSecretRepository,
    Confirmations,
    ToolExecution,
    ToolRegistry,
    ToolRunner,
    WhoamiTool,
  ],
  exports: [ToolRegistry],
})
export class McpModule {}
