import { Global, Module } from '@nestjs/common';
import { AccessModule } from '../../platform/access/access.module.js';
import { AccessTokens } from '../../platform/access/access-tokens.js';
import { OutgoingModule } from '../../platform/outgoing/outgoing.module.js';
import { AuthorizationServer } from './authorization-server.js';
import { ConsentController } from './consent.controller.js';
import { ConsentService } from './consent.service.js';
import { GrantsModule } from './grants.module.js';
import { OAuthController } from './oauth.controller.js';
import { OAuthRepository } from './oauth.repository.js';
import { OAuthTokens } from './oauth-tokens.js';
import { ResourceModule } from './resource.module.js';

/** Sign-in to /mcp by the built-in authorization server. `serverModule()` loads it only if `OAUTH` is on. */
@Global()
@Module({
  imports: [AccessModule, GrantsModule, OutgoingModule, ResourceModule],
  controllers: [OAuthController, ConsentController],
  providers: [
    AuthorizationServer,
    ConsentService,
    OAuthRepository,
    { provide: AccessTokens, useClass: OAuthTokens },
  ],
  exports: [AccessTokens],
})
export class OAuthModule {}
