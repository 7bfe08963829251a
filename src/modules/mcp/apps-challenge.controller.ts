import { Settings } from '../../platform/config/settings.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { PublicPage } from '../../platform/http/routes/access.js';
import { LatitudeController } from '../../platform/http/routes/api-controller.decorator.js';

/** The page by which OpenAI verifies that the service belongs to the publisher of an application. */
@LatitudeController()
export class AppsChallengeController {
  constructor(private readonly settings: Settings) {}

  /** @throws ApiError `not_found` if the token is not set */
  @PublicPage('.well-known/openai-apps-challenge', {
    'Content-Type': 'text/plain; charset=utf-8',
  })
  get(): string {
    const { openaiAppsChallenge: token } = this.settings;
    if (token === undefined) throw new ApiError('not_found');
    return token;
  }
}
