import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import { OwnProtocol } from '../auth/access.js';
import { ApiError } from '../errors/api-error.js';
import { type ApiRequest, Caller } from '../http/request/api-request.js';
import type { Actor } from '../tenancy/actor.js';
import { EventStream } from './protocol/event-stream.js';
import { type McpRequestContext, McpMessageHandler } from './protocol/message-handler.js';
import {
  validateHeaders,
  cursorOf,
  declaredProtocolVersion,
  sessionIdOf,
} from './protocol/headers.js';
import { SessionRevalidation } from './sessions/session-revalidation.js';
import type { Messages } from './protocol/messages.js';
import type { Session } from './sessions/session.js';
import { SessionStore } from './sessions/session-store.js';
import { isStateless } from './protocol/stateless-protocol.js';

/** Before it, clients cannot read an event without data. */
const FIRST_REVISION_WITH_PRIMING = '2025-11-25';

/** Streamable HTTP of the Model Context Protocol (docs/contract/mcp.md). */
@Controller('mcp')
export class McpController {
  constructor(
    private readonly sessions: SessionStore,
    private readonly exchange: McpMessageHandler,
    private readonly keys: SessionRevalidation,
  ) {}

  /** Opens a session, answers the messages of one, or a message that needs none. */
  @Post()
  @HttpCode(200)
  @OwnProtocol()
  async post(
    @Caller() actor: Actor,
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const caller = { actor, request, response, countedCalls: 0 };
    const body = await this.exchange.read(caller);
    try {
      return await this.answer(body, caller);
    } finally {
      await this.exchange.countRefusedCalls(body, caller);
    }
  }

  /** Streams the events of a session until one side ends it or a newer stream takes its place. */
  @Get()
  @OwnProtocol()
  async stream(
    @Caller() actor: Actor,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    await this.exchange.count(1, actor, response);
    await this.keys.assertActive(actor);
    const session = this.sessionOf(actor, sessionIdOf(request), 'no_session');
    const cursor = cursorOf(request, session);
    // A client that has left meanwhile would hold the stream for ever.
    if (response.destroyed) return;
    const stream = new EventStream(response);
    if (request.method === 'HEAD') {
      stream.close();
      return;
    }
    if (session.protocolVersion >= FIRST_REVISION_WITH_PRIMING) stream.prime(cursor);
    this.sessions.attachStream(session, stream, cursor);
    response.once('close', () => {
      session.detachStream(stream);
    });
  }

  /** Ends a session. */
  @Delete()
  @OwnProtocol()
  async close(
    @Caller() actor: Actor,
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    await this.exchange.count(1, actor, response);
    const id = sessionIdOf(request);
    const session = this.sessionOf(actor, id, id === undefined ? 'no_session' : 'not_found');
    validateHeaders(request);
    this.sessions.terminate(session);
    return { data: { id: session.id, closed: true } };
  }

  private async answer(body: Messages | ApiError, caller: McpRequestContext): Promise<unknown> {
    const { actor, request } = caller;
    if (!(body instanceof ApiError) && isStateless(body.body, declaredProtocolVersion(request))) {
      return this.exchange.handleStateless(body, caller);
    }
    const id = sessionIdOf(request);
    const session = id === undefined ? undefined : this.sessionOf(actor, id, 'not_found');
    if (body instanceof ApiError) throw body;
    validateHeaders(request);
    return session
      ? this.exchange.handleInSession(session, body, caller)
      : this.exchange.initialize(body, caller);
  }

  private sessionOf(
    actor: Actor,
    id: string | undefined,
    otherwise: 'no_session' | 'not_found',
  ): Session {
    const session = id === undefined ? undefined : this.sessions.touch(id, actor);
    if (session) return session;
    throw new ApiError(otherwise, {
      message: 'There is no such session, or it has ended. Open one by POSTing initialize.',
    });
  }
}
