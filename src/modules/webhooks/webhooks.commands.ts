import type { INestApplicationContext } from '@nestjs/common';
import { type Command, InvalidArgumentError } from 'commander';
import { commandCallOf } from '../../platform/extension/command-call.js';
import { uuid } from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';
import type { Call } from '../../platform/data/call.js';
import { DeliveriesService } from './deliveries.service.js';
import { isTargetUrl } from './target-url.js';
import { WebhooksService } from './webhooks.service.js';

/** The first page of a list, with the latest records first. */
const LATEST = { page: 1, limit: 100, sort_dir: 'desc' } as const;

interface Organization {
  readonly organization: string;
}

/** `latitude webhooks`. */
export function addWebhookCommands(program: Command, run: Run): void {
  const webhooks = program.command('webhooks').description('webhooks of an organization');
  const command = (name: string, description: string) =>
    webhooks
      .command(name)
      .description(description)
      .requiredOption('--organization <id>', 'id of the organization', uuid);

  command('list', 'list the latest 100 webhooks').action(({ organization }: Organization) =>
    run(async (app) => {
      const call = await commandCallOf(app, organization);
      return (await app.get(WebhooksService).list(call, LATEST)).data;
    }),
  );
  command('create', 'create a webhook and print its secret')
    .requiredOption('--url <url>', 'where events are sent', targetUrl)
    .requiredOption('--types <types>', 'types of events, such as lead.created,lead.updated', listOf)
    .action(({ organization, url, types }: Organization & { url: string; types: string[] }) =>
      run(async (app) => {
        const call = await commandCallOf(app, organization);
        const webhook = { url, types, enabled: true };
        return (await app.get(WebhooksService).create(call, webhook)).value();
      }),
    );
  addCommandsOfOne(command, run);
}

function addCommandsOfOne(command: (name: string, about: string) => Command, run: Run): void {
  const ofOne = (
    name: string,
    about: string,
    action: (app: INestApplicationContext, call: Call, id: string) => Promise<unknown>,
  ) =>
    command(name, about)
      .argument('<id>', 'id of the webhook', uuid)
      .action((id: string, { organization }: Organization) =>
        run(async (app) => action(app, await commandCallOf(app, organization), id)),
      );
  ofOne('delete', 'delete a webhook and its deliveries', (app, call, id) =>
    app.get(WebhooksService).delete(call, id),
  );
  ofOne('test', 'make a running server send a test event', (app, call, id) =>
    app.get(DeliveriesService).test(call, id),
  );
  ofOne('deliveries', 'list the latest 100 deliveries', async (app, call, id) => {
    return (await app.get(DeliveriesService).list(call, id, LATEST)).data;
  });
}

/** @throws InvalidArgumentError */
function targetUrl(text: string): string {
  if (isTargetUrl(text)) return text;
  throw new InvalidArgumentError('It must be an http or https URL without user name and password.');
}

function listOf(text: string): string[] {
  return text.split(',');
}
