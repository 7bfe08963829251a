import { Global, Module } from '@nestjs/common';
import { AccessModule } from '../../platform/access/access.module.js';
import { AccessTokens } from '../../platform/access/access-tokens.js';
import { IssuerTokens } from './issuer-tokens.js';
import { ResourceModule } from './resource.module.js';

/** Sign-in to /mcp by another authorization server. `serverModule()` loads it only if `OAUTH_ISSUER` is set. */
@Global()
@Module({
  imports: [AccessModule, ResourceModule],
  providers: [{ provide: AccessTokens, useClass: IssuerTokens }],
  exports: [AccessTokens],
})
export class IssuerModule {}
