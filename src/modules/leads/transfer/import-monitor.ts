import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { logger } from '../../../platform/config/logger.js';
import type { TenantCall } from '../../../platform/data/call.js';
import { MetricsRegistry } from '../../../platform/metrics-registry.js';
import type { LeadImport } from './lead-import.entity.js';

const ENDS = ['completed', 'cancelled', 'failed'] as const;
/** How an import ends. */
export type ImportEnd = (typeof ENDS)[number];
const OUTCOMES = ['created', 'updated', 'unchanged', 'rejected'] as const;

/** The number of lines with each outcome. */
export type LineCounts = Readonly<Record<(typeof OUTCOMES)[number], number>>;

/** An import that has begun. */
export type BegunImport = Pick<
  LeadImport,
  'id' | 'format' | 'mode' | 'dry_run' | 'bytes' | 'lines'
>;

/** An import that has ended. */
export type EndedImport = LineCounts &
  Pick<LeadImport, 'id' | 'status' | 'lines'> & { readonly seconds: number | null };

/** The log and the metrics of the imports of this instance. Neither has names of columns or values of lines. */
@Injectable()
export class ImportMonitor {
  private readonly begunImports = new Counter({
    name: 'latitude_imports_begun_total',
    help: 'Imports of leads that have begun.',
    registers: [this.registry],
  });
  private readonly endedImports = new Counter({
    name: 'latitude_imports_ended_total',
    help: `Imports of leads that have ended by status: ${ENDS.join(', ')}.`,
    labelNames: ['status'],
    registers: [this.registry],
  });
  private readonly lines = new Counter({
    name: 'latitude_import_lines_total',
    help: `Lines of imports that were carried out by outcome: ${OUTCOMES.join(', ')}.`,
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  constructor(private readonly registry: MetricsRegistry) {
    for (const status of ENDS) this.endedImports.inc({ status }, 0);
    for (const outcome of OUTCOMES) this.lines.inc({ outcome }, 0);
  }

  begun({ tenant }: TenantCall, { id, ...details }: BegunImport): void {
    this.begunImports.inc();
    logger.info({ import: id, organization: tenant.id, ...details }, 'an import has begun');
  }

  carriedOut(counts: LineCounts): void {
    for (const outcome of OUTCOMES) this.lines.inc({ outcome }, counts[outcome]);
  }

  ended({ tenant }: TenantCall, imports: readonly EndedImport[]): void {
    for (const { id, ...details } of imports) {
      this.endedImports.inc({ status: details.status });
      logger.info({ import: id, organization: tenant.id, ...details }, 'an import has ended');
    }
  }
}
