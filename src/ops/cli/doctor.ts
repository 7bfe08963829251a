import type { Command } from 'commander';
import { setLogLevel } from '../../platform/config/logger.js';
import type { LatitudeConfig } from '../../platform/extension/config.js';
import { examine } from '../doctor/doctor.js';
import { formatDiagnosis } from '../doctor/format-diagnosis.js';
import { isJson, writeOutput, writeResult } from './output.js';

interface DoctorArguments {
  readonly deep?: boolean;
  readonly strict?: boolean;
  readonly upgrade?: boolean;
}

/** `latitude doctor`. */
export function addDoctor(program: Command, config: LatitudeConfig): void {
  program
    .command('doctor')
    .description('find what is wrong with the database and its settings, and say how to mend it')
    .option('--deep', 'also compare totals and search texts with the records, which takes longer')
    .option('--strict', 'exit with 1 on warnings, too')
    .option('--upgrade', 'before an upgrade: say what this version does with the database')
    .action(async ({ deep = false, strict = false, upgrade = false }: DoctorArguments) => {
      setLogLevel('silent');
      const diagnosis = await examine(config, { deep, upgrade });
      if (isJson(program)) writeResult(diagnosis.report, true);
      else writeOutput(formatDiagnosis(diagnosis.report));
      process.exitCode = diagnosis.exitCode(strict);
    });
}
