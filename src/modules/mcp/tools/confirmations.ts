import { createHmac } from 'node:crypto';
import {
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { canonicalJson } from '../../../platform/http/response/idempotent-request.js';
import { ConfirmationSecretRepository } from './confirmation-secret.repository.js';
import type { ToolDeclaration } from './tool.decorator.js';

/** How long a question can be answered. */
const TTL_SECONDS = 600;

/** The name of the question in the protocol, and of its field. */
const CONFIRM = 'confirm';

/** Fields of a record that a question shows at most, and the characters of each. */
const MAX_SHOWN = 6;
const MAX_SHOWN_LENGTH = 80;

/** What the client of a message can do, and what it has answered (revision 2026-07-28). */
export interface UserInput {
  /** Whether it can show forms. */
  readonly hasForms: boolean;
  readonly responses?: Readonly<Record<string, unknown>>;
  /** The state of the question, as the client sent it. */
  readonly state?: unknown;
}

/** A call of a tool that asks the user. */
export interface AskingCall {
  readonly call: Call;
  readonly tool: ToolDeclaration;
  readonly args: object;
  readonly input: UserInput;
}

/** What the user has answered. `version` is that of what the user was asked about. */
export type Reply =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'confirmed'; readonly version: string };

/** What a question is about. */
export interface Subject {
  readonly id?: string;
  /** The record, if the key may read it. */
  readonly record?: object;
  /** The question of the tool itself, if it has one. */
  readonly question?: string;
  readonly version: string;
}

interface State {
  readonly version: string;
}

/**
 * Asks the user before a tool deletes, cancels or merges records (docs/contract/mcp.md#confirmations). The client shows the
 * question and repeats the call with the answer and the state, which is signed and valid for this caller, tool and
 * arguments only.
 */
@Injectable()
export class Confirmations {
  constructor(private readonly secrets: ConfirmationSecretRepository) {}

  /** @throws ApiError `query_failed`, `create_failed` */
  async replyTo(asking: AskingCall): Promise<Reply> {
    const view = inputResponse(asking.input.responses, CONFIRM);
    if (view.kind !== 'elicit') return { kind: 'none' };
    const { action } = view;
    if (action === 'decline') return refused('The user declined: nothing was changed.');
    if (action === 'cancel') return refused('The user cancelled: nothing was changed.');
    const confirmed = view.content?.[CONFIRM];
    if (confirmed === false) return refused('The user did not confirm: nothing was changed.');
    const state = confirmed === true ? await this.stateOf(asking) : undefined;
    return state ? { kind: 'confirmed', version: state.version } : { kind: 'none' };
  }

  /** @throws ApiError `query_failed`, `create_failed` */
  async question(asking: AskingCall, subject: Subject): Promise<InputRequiredResult> {
    const { title } = asking.tool;
    const codec = await this.codecOf(asking);
    return inputRequired({
      inputRequests: {
        [CONFIRM]: inputRequired.elicit({
          message: plainText(subject.question ?? questionAbout(title, subject)),
          requestedSchema: {
            type: 'object',
            properties: {
              [CONFIRM]: { type: 'boolean', title, description: 'Whether to do this.' },
            },
            required: [CONFIRM],
          },
        }),
      },
      requestState: await codec.mint({ version: subject.version }, NO_CONTEXT),
    });
  }

  /** The version of what a question is about, as a keyed hash, so that the client cannot read the content from it. */
  async versionOf(...parts: readonly unknown[]): Promise<string> {
    const hmac = createHmac('sha256', await this.secrets.get());
    return hmac.update(JSON.stringify(parts)).digest('base64url');
  }

  /** @returns undefined for a state that is missing, forged, expired or of another call */
  private async stateOf(asking: AskingCall): Promise<State | undefined> {
    const { state } = asking.input;
    if (typeof state !== 'string') return undefined;
    const codec = await this.codecOf(asking);
    return codec.verify(state, NO_CONTEXT).catch(() => undefined);
  }

  private async codecOf({ call: { tenant, actor }, tool, args }: AskingCall) {
    const caller = actor.key.grant?.id ?? actor.key.id;
    const bound = canonicalJson([tenant.id, caller, tool.name, args]);
    const key = await this.secrets.get();
    return createRequestStateCodec<State>({ key, ttlSeconds: TTL_SECONDS, bind: () => bound });
  }
}

/** The context that the codec passes to `bind`, which has the call already and ignores it. */
const NO_CONTEXT = {} as ServerContext;

function refused(message: string): Reply {
  return { kind: 'refused', message };
}

function questionAbout(title: string, subject: Subject): string {
  const label = labelOf(subject);
  return label === '' ? `${title}?` : `${title}: ${label}?`;
}

/** A text on one line. Values of records cannot reverse the direction of the text around them. */
function plainText(text: string): string {
  return text.replaceAll(/\p{Bidi_Control}/gu, '').replaceAll(/\s+/g, ' ');
}

/** Names a record by its first fields, names before others; by its id, if there is one, if the key may not read it. */
function labelOf({ id = '', record }: Subject): string {
  const isName = (name: string) => /name|title/.test(name);
  const fields = Object.entries(record ?? {}).flatMap(([name, value]) => {
    const isShown = name !== 'id' && !/_id$|_at$/.test(name) && value !== null;
    const text: unknown = value instanceof Date ? value.toISOString() : value;
    return isShown && typeof text === 'string' ? [[name, text] as const] : [];
  });
  const ordered = [
    ...fields.filter(([name]) => isName(name)),
    ...fields.filter(([name]) => !isName(name)),
  ];
  if (ordered.length === 0) return id;
  const shown = ordered.slice(0, MAX_SHOWN).map(([name, text]) => {
    const line = [...plainText(text)].slice(0, MAX_SHOWN_LENGTH).join('');
    return `${name.replaceAll('_', ' ')} ${line}`;
  });
  return shown.join(', ');
}
