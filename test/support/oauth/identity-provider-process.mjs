// An OpenID provider of an enterprise, run as a process of its own: oidc-provider with its pages for development, users
// whose name is the id of their organization, and JWTs as access tokens. `/sign` signs any claims with its key.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import Provider from 'oidc-provider';

const port = Number(process.argv[2]);
const issuer = `http://127.0.0.1:${port}`;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const kid = randomUUID();

const scopes = ['appointments', 'leads', 'tasks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
]);

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }] },
  scopes,
  cookies: { keys: ['a'] },
  clientDefaults: { token_endpoint_auth_method: 'none' },
  features: {
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({
        scope: scopes.join(' '),
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  extraTokenClaims: (_, { accountId }) => ({ organization_id: accountId }),
  issueRefreshToken: () => true,
});
provider.use(async (context, next) => {
  if (context.path !== '/sign') return next();
  const { header, claims } = JSON.parse(context.query.token);
  context.body = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid, ...header })
    .sign(privateKey);
});
provider.listen(port, '127.0.0.1', function listening() {
  process.stdout.write(`http://127.0.0.1:${this.address().port}\n`);
});
