import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { KeysService } from '../../modules/auth/keys.service.js';
import { PersonalDataService } from '../../modules/personal-data/personal-data.service.js';
import { uuid } from '../../platform/extension/command-options.js';
import type { Progress, Run } from '../../platform/extension/command.js';
import { eachOrganization } from './each-organization.js';
import { fileExists, writeFileAtOnce } from './partial-file.js';

/** An erased lead in a file of `latitude erasures export`. */
export interface ErasedLead {
  readonly organization_id: string;
  readonly lead_id: string;
}

/** `latitude erasures`. */
export function addErasures(program: Command, run: Run): void {
  const erasures = program.command('erasures').description('erased persons');
  erasures
    .command('export')
    .description('write the ids of erased leads to a file, for the restore of a backup')
    .argument('<file>', 'the file to write')
    .option('--force', 'replace the file if it exists')
    .action(async (file: string, { force = false }: { force?: boolean }) => {
      if (!force && existsSync(file)) throw fileExists(file);
      await run((app) => exportErasures(app, file, force));
    });
  erasures
    .command('apply')
    .description('erase the leads of a file again, as "restore --erasures" does')
    .argument('<file>', 'a file of "erasures export"')
    .action(async (file: string) => {
      const leads = await readErasures(file);
      await run((app, progress) => applyErasures(app, leads, progress));
    });
}

async function exportErasures(app: INestApplicationContext, file: string, force: boolean) {
  const lines = await erasureLines(app);
  await writeFileAtOnce(file, force, (sink) => pipeline(lines, sink));
  return { file, leads: lines.length };
}

/** The lines of a file of erased leads. */
export async function erasureLines(app: INestApplicationContext): Promise<string[]> {
  const service = app.get(PersonalDataService);
  const erased = await eachOrganization(app, (call) => service.listErasures(call));
  return erased.flat().map((one) => `${JSON.stringify(one)}\n`);
}

/**
 * Reads a file of `latitude erasures export`.
 * @throws Error whose message is meant for the user if it is not one
 */
export async function readErasures(file: string): Promise<ErasedLead[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  if (lines.pop() !== '') throw new Error(`${file} is incomplete: its last line has no end.`);
  return lines.map((line, index) => {
    try {
      const { organization_id, lead_id } = JSON.parse(line) as ErasedLead;
      return { organization_id: uuid(organization_id), lead_id: uuid(lead_id) };
    } catch (cause) {
      const message = `${file} is not a file of "latitude erasures export": see line ${index + 1}.`;
      throw new Error(message, { cause });
    }
  });
}

/** Erases leads again. Those of organizations that the database does not have are left out. */
export async function applyErasures(
  app: INestApplicationContext,
  leads: readonly ErasedLead[],
  progress: Progress,
) {
  const service = app.get(PersonalDataService);
  const organizations = await app.get(KeysService).listOrganizations();
  const known = new Set(organizations.map(({ id }) => id));
  let erased = 0;
  await progress(leads.length, async (advance) => {
    for (const { organization_id: id, lead_id } of leads) {
      if (known.has(id) && (await service.eraseAgain({ tenant: { id } }, lead_id))) erased++;
      advance(1);
    }
  });
  return { erasures: leads.length, erased };
}
