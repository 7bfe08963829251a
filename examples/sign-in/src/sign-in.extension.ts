import { Injectable, Module } from '@nestjs/common';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import {
  defineExtension,
  InjectSetting,
  setting,
  TokenAuthenticator,
  type TokenIdentity,
} from 'latitude';

/** Errors of jose that are no fault of the token. */
const PROVIDER_ERRORS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT'];

/** The claims that the identity provider adds for this API. */
interface Claims {
  readonly organization_id?: string;
  readonly scope?: string;
}

/** Accepts access tokens of an identity provider. */
@Injectable()
export class IdentityProvider extends TokenAuthenticator {
  private readonly keys: ReturnType<typeof createRemoteJWKSet>;

  constructor(
    @InjectSetting('SIGN_IN_ISSUER') private readonly issuer: string,
    @InjectSetting('SIGN_IN_AUDIENCE') private readonly audience: string,
  ) {
    super();
    // jose caches the keys, and requests them again for a token with an unknown key.
    this.keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));
  }

  async authenticate(token: string): Promise<TokenIdentity | undefined> {
    try {
      const { payload } = await jwtVerify<Claims>(token, this.keys, {
        issuer: this.issuer,
        audience: this.audience,
        algorithms: ['ES256'],
        requiredClaims: ['sub', 'exp', 'organization_id'],
      });
      const { sub = '', exp = 0, organization_id = '', scope = '' } = payload;
      return {
        organizationId: organization_id,
        subject: sub,
        scopes: scope.split(' '),
        expiresAt: new Date(exp * 1_000),
      };
    } catch (error) {
      if (error instanceof errors.JOSEError && !PROVIDER_ERRORS.includes(error.code)) return;
      throw error;
    }
  }
}

@Module({})
class SignInModule {}

export const signInExtension = defineExtension({
  name: 'acme-sign-in',
  module: SignInModule,
  settings: { SIGN_IN_ISSUER: setting.url({}), SIGN_IN_AUDIENCE: setting.text({}) },
  adds: [{ provide: TokenAuthenticator, useClass: IdentityProvider }],
});
