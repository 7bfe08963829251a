import { Delete, Get, HttpCode, MethodNotAllowedException, Post, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import { KeyRevalidation } from '../../platform/access/key-revalidation.js';
import { Settings } from '../../platform/config/settings.js';
import { validationError } from '../../platform/errors/api-error.js';
import { type ApiRequest, CurrentCall } from '../../platform/http/request/api-request.js';
import { checkUnexpectedBody } from '../../platform/http/request/request-reader.js';
import type { Call } from '../../platform/data/call.js';
import { EventStream } from './protocol/event-stream.js';
import { lastEventIdOf, sessionIdOf, validateHeaders } from './protocol/headers.js';
import { McpMessageHandler } from './protocol/message-handler.js';
import { hasSessions } from './protocol/session-protocol.js';
import { McpRoute } from './mcp-route.decorator.js';
import { noSession, SessionStore } from './sessions/session-store.js';
import { LatitudeController } from '../../platform/http/routes/api-controller.decorator.js';

/** Clients of older protocol versions cannot parse an event without data. */
const FIRST_VERSION_WITH_PRIMING_EVENT = '2025-11-25';

/**
 * The Streamable HTTP transport of the Model Context Protocol (docs/contract/mcp.md). Its handlers send the responses
 * themselves, so that interceptors of a team do not change them.
 */
@LatitudeController('mcp')
export class McpController {
  constructor(
    private readonly sessions: SessionStore,
    private readonly handler: McpMessageHandler,
    private readonly keys: KeyRevalidation,
    private readonly settings: Settings,
  ) {}

  /** Opens a session, or handles messages within a session or without one. */
  @Post()
  @HttpCode(200)
  @McpRoute()
  async post(
    @CurrentCall() call: Call,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    // The changes of an agent name the request.
    const { requestId, traceparent } = request.state;
    const actor = { ...call.actor, channel: 'ai' } as const;
    const agentCall: Call = { ...call, actor, requestId, traceparent };
    const answer = await this.handler.handle(agentCall, request, response);
    // A handler that streams has sent the response itself.
    if (!response.headersSent) response.send(answer);
  }

  /** Streams the events of a session until either side closes the stream or a newer stream replaces it. */
  @Get()
  @McpRoute()
  async stream(
    @CurrentCall() call: Call,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    await this.handler.countMessages(1, call, response);
    await this.assertNoBody(request);
    if (!hasSessions(call)) throw new MethodNotAllowedException('This caller has no streams.');
    await this.keys.assertActive(call.actor);
    const session = await this.sessions.find(sessionIdOf(request), call, 'no_session');
    const lastEventId = lastEventIdOf(request, session);
    // Nest passes HEAD to the handler of GET. It must not replace the stream of the session.
    if (request.method === 'HEAD') {
      new EventStream(response).close();
      return;
    }
    const number = await this.sessions.nextStreamNumber(session);
    if (number === undefined) throw noSession('no_session');
    // The client has disconnected: there would be no `close` event to detach the stream.
    if (response.destroyed) return;
    const stream = new EventStream(response);
    const { protocol_version: version } = session.record;
    if (version >= FIRST_VERSION_WITH_PRIMING_EVENT) stream.prime(lastEventId);
    this.sessions.attachStream(session, stream, number, lastEventId);
    response.once('close', () => {
      session.detachStream(stream);
    });
    // Looks the session up again, which copies a subscription that another instance has stored since the first time.
    await this.sessions.find(session.id, call, 'no_session').catch(() => {
      stream.close();
    });
  }

  /** Terminates a session. */
  @Delete()
  @McpRoute()
  async terminate(
    @CurrentCall() call: Call,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    await this.handler.countMessages(1, call, response);
    await this.assertNoBody(request);
    const session = await this.sessions.find(sessionIdOf(request), call);
    validateHeaders(request);
    if (!(await this.sessions.terminate(session))) throw noSession('not_found');
    response.json({ data: { id: session.id, closed: true } });
  }

  private async assertNoBody(request: ApiRequest): Promise<void> {
    const problems = await checkUnexpectedBody(request, this.settings.bodyLimitBytes);
    if (problems.length > 0) throw validationError(problems);
  }
}
