import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { errors, type InteractionResults } from 'oidc-provider';
import { Counter } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import { hashKey, isOperatorKey } from '../../platform/access/api-key-format.js';
import { Authenticator } from '../../platform/access/authenticator.js';
import { MetricsRegistry } from '../../platform/metrics-registry.js';
import { AuthorizationServer, NAMED_SCOPES } from './authorization-server.js';
import type { Consent } from './consent.page.js';
import {
  type GrantingKey,
  GrantsRepository,
  type NewGrant,
  type SignInRequest,
} from './grants.repository.js';
import { ACCOUNT } from './oauth.repository.js';

/**
 * Names the key that a person has pasted. oidc-provider stores one result for each authorization. Until the person answers,
 * this is `{ key_id }`, which grants nothing.
 */
const KEY_ID = 'key_id';

/** What becomes of a sign-in: a grant, a refusal by the person, or a pasted key that is not accepted. */
const OUTCOMES = ['granted', 'refused', 'key_refused'] as const;

/** A request with what the platform knows about its client. */
type BrowserRequest = IncomingMessage & { readonly state: SignInRequest };

/** An authorization that waits for the answer of a person, with the request of its browser. */
export interface Authorization extends Consent {
  readonly request: BrowserRequest;
  readonly response: ServerResponse;
  readonly uid: string;
  readonly returnTo: string;
  readonly result: InteractionResults | undefined;
  readonly clientId: string;
  readonly resource: string;
}

/** What happens after a form: the page with a problem, or a redirect. An empty location is the page itself. */
export type Answer = { readonly problem: string } | { readonly location: string };

/** Asks a person for the grant of an authorization (docs/contract/oauth.md#page). */
@Injectable()
export class ConsentService {
  private readonly signIns = new Counter({
    name: 'latitude_sign_ins_total',
    help: 'Answers of people to applications that ask for access.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  constructor(
    private readonly server: AuthorizationServer,
    private readonly grants: GrantsRepository,
    private readonly authenticator: Authenticator,
    private readonly registry: MetricsRegistry,
  ) {
    for (const outcome of OUTCOMES) this.signIns.inc({ outcome }, 0);
  }

  /**
   * Finds the authorization that this browser has begun.
   * @returns undefined if there is none, or it has ended
   */
  async find(
    request: BrowserRequest,
    response: ServerResponse,
    uid: string,
  ): Promise<Authorization | undefined> {
    const { provider } = this.server;
    this.server.forwarded(request);
    const interaction = await provider.interactionDetails(request, response).catch(orNotFound);
    if (interaction?.uid !== uid) return undefined;
    const params = interaction.params as Readonly<Record<string, string | string[]>>;
    const { client_id, redirect_uri, resource, scope } = params;
    const client = await provider.Client.find(String(client_id)).catch(orNotFound);
    if (!client) return undefined;
    const { returnTo, result } = interaction;
    const scopes = String(scope).split(' ');
    const isDocument = 'clientIdMetadataDocument' in client;
    return {
      request,
      response,
      uid,
      returnTo,
      result,
      clientId: client.clientId,
      resource: String([resource].flat()[0]),
      documentUrl: isDocument ? client.clientId : undefined,
      clientName: client.clientName,
      redirectUri: String(redirect_uri),
      scopes,
      namedScopes: String(params[NAMED_SCOPES] ?? '').split(' '),
      key: await this.offeredKey(result, scopes),
    };
  }

  /** Remembers the key of a person until the authorization ends. */
  async offerKey(authorization: Authorization, key: string): Promise<Answer> {
    const answer = await this.answerToKey(authorization, key);
    if ('problem' in answer) this.signIns.inc({ outcome: 'key_refused' });
    return answer;
  }

  private async answerToKey(authorization: Authorization, key: string): Promise<Answer> {
    if (isOperatorKey(key.trim())) {
      return { problem: 'This is an operator key, which cannot be granted. Use an API key.' };
    }
    const call = await this.authenticator.authenticate(key.trim());
    if (!call || call.actor.key.subject !== undefined) {
      return { problem: 'The API key is wrong, has expired or was revoked.' };
    }
    if (!authorization.scopes.some((scope) => call.actor.scopes.has(scope))) {
      return { problem: 'The API key has none of the scopes that the application asks for.' };
    }
    await this.store(authorization, { [KEY_ID]: call.actor.key.id });
    return { location: '' };
  }

  /** Forgets the key. */
  async restart(authorization: Authorization): Promise<Answer> {
    await this.store(authorization, {});
    return { location: '' };
  }

  /** Grants a part of the scopes of the key. */
  async grant(authorization: Authorization, chosen: readonly string[]): Promise<Answer> {
    const { key } = authorization;
    if (!key) return { problem: 'The API key has expired or was revoked. Use another one.' };
    const scopes = key.scopes.filter((scope) => chosen.includes(scope));
    if (scopes.length === 0) return { problem: 'Choose at least one permission, or refuse.' };
    const grant = newGrant(authorization, scopes);
    const { state } = authorization.request;
    if (!(await this.grants.grant(key, grant, state))) return ENDED;
    this.signIns.inc({ outcome: 'granted' });
    const answer = { login: { accountId: ACCOUNT }, consent: { grantId: grant.id } };
    return { location: await this.store(authorization, answer) };
  }

  async refuse(authorization: Authorization): Promise<Answer> {
    const { key, scopes } = authorization;
    if (!(await this.grants.refuse(key, newGrant(authorization, scopes)))) return ENDED;
    this.signIns.inc({ outcome: 'refused' });
    const error_description = 'The person has refused the access.';
    const answer = { error: 'access_denied', error_description };
    return { location: await this.store(authorization, answer) };
  }

  /** @returns where the browser continues the authorization */
  private store({ request, response }: Authorization, result: InteractionResults): Promise<string> {
    const options = { mergeWithLastSubmission: false };
    return this.server.provider.interactionResult(request, response, result, options);
  }

  /** The scopes and the end that the pasted key offers. */
  private async offeredKey(
    result: InteractionResults | undefined,
    requested: readonly string[],
  ): Promise<GrantingKey | undefined> {
    const id = result?.[KEY_ID];
    const key = typeof id === 'string' ? await this.grants.findKey(id) : undefined;
    return key && { ...key, scopes: requested.filter((scope) => key.scopes.includes(scope)) };
  }
}

const ENDED: Answer = { problem: 'The key has changed, or this sign-in has ended. Connect again.' };

function newGrant(
  { uid, clientId, clientName = '', resource }: Authorization,
  scopes: readonly string[],
): NewGrant {
  return {
    id: uuidv7(),
    interactionHash: hashKey(uid),
    client_id: clientId,
    client_name: clientName,
    resource,
    scopes,
  };
}

/** A sign-in that has ended, or a client whose document is gone, is no failure of the server. */
function orNotFound(error: unknown): undefined {
  if (error instanceof errors.OIDCProviderError && error.statusCode < 500) return undefined;
  throw error;
}
