import { type Command, InvalidArgumentError } from 'commander';
import { KeysService } from '../../modules/auth/keys.service.js';
import { Settings } from '../../platform/config/settings.js';
import { duration, uuid } from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';
import { consoleLink, createConsoleKey } from '../console-key.js';
import { afterNow, issue } from './keys.js';

interface Options {
  readonly organization: string;
  readonly url?: string;
  readonly expiresIn?: number;
}

/** `latitude console`. */
export function addConsole(program: Command, run: Run): void {
  program
    .command('console')
    .description('create a key for the console, and print the link that signs in with it')
    .requiredOption('--organization <id>', 'id of the organization', uuid)
    .option(
      '--url <url>',
      'of the server; by default PUBLIC_URL, or that of HOST and PORT',
      httpUrl,
    )
    .option('--expires-in <duration>', 'such as 90d', duration)
    .action(({ organization, url, expiresIn }: Options) =>
      issue('keys', run, async (app) => {
        const settings = app.get(Settings);
        const base = url ?? urlOf(settings);
        const expiresAt = afterNow(expiresIn);
        const key = await createConsoleKey(app.get(KeysService), settings, organization, expiresAt);
        const { id, organization_id, expires_at } = key;
        return { id, organization_id, expires_at, url: consoleLink(base, key) };
      }),
    );
}

/** @throws Error if nothing tells the port of the server */
function urlOf({ publicUrl, host, port }: Settings): string {
  if (publicUrl !== undefined) return publicUrl;
  if (port === 0) throw new Error('PORT is 0: name the URL of the server with --url.');
  // A server that listens on all addresses is reachable on this machine by its loopback address.
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** @throws InvalidArgumentError */
function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
    throw new InvalidArgumentError('It must be a URL such as https://latitude.example.');
  }
  return url.href.replace(/\/+$/, '');
}
