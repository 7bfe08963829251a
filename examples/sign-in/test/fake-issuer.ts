import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** An identity provider with one key, which it publishes as a JWKS. */
export class FakeIssuer {
  /** The status of the JWKS. */
  status = 200;

  private constructor(
    private readonly server: Server,
    private readonly key: CryptoKey,
  ) {}

  static async start(): Promise<FakeIssuer> {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'first', alg: 'ES256' }];
    const server = createServer();
    const issuer = new FakeIssuer(server, privateKey);
    server.on('request', (request, response) => {
      const isJwks = request.url === '/.well-known/jwks.json';
      response.writeHead(isJwks ? issuer.status : 404).end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  sign(claims: JWTPayload, key = this.key): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'first' }).sign(key);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
