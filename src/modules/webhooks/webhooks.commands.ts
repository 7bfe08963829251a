import type { INestApplicationContext } from '@nestjs/common';
import { type Command, InvalidArgumentError } from 'commander';
import { commandCallOf } from '../../platform/extension/command-call.js';
import { uuid } from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';
import type { Call } from '../../platform/data/call.js';
import { DeliveriesService } from './deliveries.service.js';
import { isObject } from '../../platform/fields/kinds/json-object.js';
import { parseJsonParameter } from '../../platform/fields/input/strict-json.js';
import { isTargetUrl } from './target-url.js';
import type { CreateWebhookDto } from './webhook.dto.js';
import { WebhooksService } from './webhooks.service.js';

/** The first page of a list, with the latest records first. */
const LATEST = { page: 1, limit: 100, sort_dir: 'desc' } as const;

interface Organization {
  readonly organization: string;
}

/** The work of a command for the webhooks of an organization. */
type Work = (app: INestApplicationContext, call: Call) => Promise<unknown>;

/** `latitude webhooks`. */
export function addWebhookCommands(program: Command, run: Run): void {
  const webhooks = program.command('webhooks').description('webhooks of an organization');
  const command = (name: string, description: string) =>
    webhooks
      .command(name)
      .description(description)
      .requiredOption('--organization <id>', 'id of the organization', uuid);
  const ofOne = (name: string, description: string) =>
    command(name, description).argument('<id>', 'id of the webhook', uuid);
  const runFor = ({ organization }: Organization, work: Work) =>
    run(async (app) => work(app, await commandCallOf(app, organization)));

  command('list', 'list the latest 100 webhooks').action((options: Organization) =>
    runFor(options, async (app, call) => (await app.get(WebhooksService).list(call, LATEST)).data),
  );
  command('create', 'create a webhook and print its secret')
    .requiredOption('--url <url>', 'where events are sent', targetUrl)
    .requiredOption('--types <types>', 'types of events, such as lead.created,lead.updated', listOf)
    .option('--changed <fields>', 'fields of which any must have changed, such as status', listOf)
    .option('--filter <json>', 'a filter that the record must match', jsonObject)
    .action(({ organization, ...webhook }: Organization & CreateWebhookDto) =>
      runFor({ organization }, async (app, call) => {
        return (await app.get(WebhooksService).create(call, { ...webhook, enabled: true })).value();
      }),
    );
  ofOne('enable', 'enable a webhook, and send its pending deliveries').action(
    (id: string, options: Organization) =>
      runFor(options, async (app, call) =>
        (await app.get(WebhooksService).update(call, id, { enabled: true })).value(),
      ),
  );
  ofOne('delete', 'delete a webhook and its deliveries').action(
    (id: string, options: Organization) =>
      runFor(options, (app, call) => app.get(WebhooksService).delete(call, id)),
  );
  ofOne('test', 'make a running server send a test event').action(
    (id: string, options: Organization) =>
      runFor(options, (app, call) => app.get(DeliveriesService).test(call, id)),
  );
  ofOne('deliveries', 'list the latest 100 deliveries').action(
    (id: string, options: Organization) =>
      runFor(options, async (app, call) => {
        return (await app.get(DeliveriesService).list(call, id, LATEST)).data;
      }),
  );
}

/** @throws InvalidArgumentError */
function targetUrl(text: string): string {
  if (isTargetUrl(text)) return text;
  throw new InvalidArgumentError('It must be an http or https URL without user name and password.');
}

/** @throws InvalidArgumentError */
function jsonObject(text: string): object {
  const { value, problems } = parseJsonParameter(text, 'It');
  const [problem] = problems;
  if (problem) throw new InvalidArgumentError(`${problem.field} ${problem.message}.`);
  if (isObject(value)) return value;
  throw new InvalidArgumentError('It must be a JSON object.');
}

function listOf(text: string): string[] {
  return text.split(',');
}
