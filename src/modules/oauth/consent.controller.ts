import { promisify } from 'node:util';
import { Get, Post, Req, Res } from '@nestjs/common';
import { type Response, text } from 'express';
import { RateLimits } from '../../platform/access/limits/rate-limits.js';
import { Public } from '../../platform/http/routes/access.js';
import { LatitudeController } from '../../platform/http/routes/api-controller.decorator.js';
import type { ApiRequest } from '../../platform/http/request/api-request.js';
import { PAGE_HEADERS, renderConsent, renderProblem } from './consent.page.js';
import { type Answer, type Authorization, ConsentService } from './consent.service.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { ProtectedResource } from './protected-resource.js';

/** A form has a key and a few scopes. */
const readForm = promisify(text({ type: 'application/x-www-form-urlencoded', limit: '16kb' }));

/** The page on which a person answers an authorization (docs/contract/oauth.md#page). */
@LatitudeController('oauth/consent', OAuthErrorFilter)
export class ConsentController {
  constructor(
    private readonly consents: ConsentService,
    private readonly limits: RateLimits,
    private readonly resource: ProtectedResource,
  ) {}

  @Get(':uid')
  @Public()
  show(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    return this.answer(request, response, () => Promise.resolve(undefined));
  }

  @Post(':uid')
  @Public()
  async submit(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    if (request.headers.origin !== this.resource.origin) {
      sendProblem(response, 403, 'The form was sent by a page of another site.');
      return;
    }
    await readForm(request, response);
    const form = new URLSearchParams(String(request.body ?? ''));
    await this.answer(request, response, async (authorization) => {
      switch (form.get('action')) {
        case 'continue':
          // A pasted key counts as a request without a valid key, so that nobody can try many.
          await this.limits.countAddress(request.state.clientAddress ?? '');
          return this.consents.offerKey(authorization, form.get('key') ?? '');
        case 'restart':
          return this.consents.restart(authorization);
        case 'grant':
          return this.consents.grant(authorization, form.getAll('scope'));
        default:
          return this.consents.refuse(authorization);
      }
    });
  }

  private async answer(
    request: ApiRequest,
    response: Response,
    act: (authorization: Authorization) => Promise<Answer | undefined>,
  ): Promise<void> {
    const authorization = await this.consents.find(request, response, String(request.params.uid));
    if (!authorization) {
      sendProblem(response, 400, 'This sign-in has ended, or it was started in another browser.');
      return;
    }
    const { result, returnTo } = authorization;
    // The form was sent twice, or the browser went back to the page.
    const isAnswered = result?.consent !== undefined || result?.error !== undefined;
    const answer = isAnswered ? { location: returnTo } : await act(authorization);
    response.set(PAGE_HEADERS);
    if (answer && 'location' in answer) {
      response.redirect(303, answer.location || request.path);
      return;
    }
    response.status(answer ? 422 : 200).type('html');
    response.send(renderConsent({ ...authorization, ...answer }));
  }
}

function sendProblem(response: Response, status: number, problem: string): void {
  response.set(PAGE_HEADERS).status(status).type('html').send(renderProblem(problem));
}
