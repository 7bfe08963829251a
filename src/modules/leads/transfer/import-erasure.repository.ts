import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { RecordRemoval } from '../../../platform/data/records/record-removal.service.js';
import { isKnownHeader } from './column-names.js';
import type { Column } from './columns.js';
import { ImportLinesRepository } from './import-lines.repository.js';
import { ignoredOf, type ImportPlan } from './lead-import.entity.js';
import { LeadImportsRepository } from './lead-imports.repository.js';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Imports whose columns are read at a time. */
const PAGE = 100;

interface PlanRow {
  readonly id: string;
  readonly plan: Partial<ImportPlan>;
}

/** Removes what imports keep of persons. It cannot tell of which, so it removes it of all (docs/contract/personal-data.md#erasure). */
@Injectable()
export class ImportErasureRepository {
  constructor(
    private readonly imports: LeadImportsRepository,
    private readonly lines: ImportLinesRepository,
    private readonly removal: RecordRemoval,
  ) {}

  /** Empties the cells of rejected lines, which can be too many for one transaction. @throws ApiError `create_failed` */
  emptyRejected(call: TenantCall): Promise<void> {
    return this.lines.emptyRejected(call);
  }

  /**
   * Cancels the imports that have not ended, removes all files, and empties rejected lines, constants and the names of
   * columns: those of a file without a header are the values of its first line.
   * @throws ApiError `create_failed`
   */
  async erase(call: InTransaction, error: string): Promise<void> {
    await this.imports.cancelAll(call, error);
    // A statement of its own sees the lines of portions that the first one waited for.
    await this.lines.emptyRest(call);
    await this.eraseNames(call);
  }

  /** Removes the ids of leads from the results of lines. @throws ApiError `create_failed` */
  forgetLeads(call: InTransaction, ids: readonly string[]): Promise<void> {
    return this.lines.forgetLeads(call, ids);
  }

  private async eraseNames(call: InTransaction): Promise<void> {
    const { transaction, tenant } = call;
    const changed: string[] = [];
    let page: PlanRow[] = [];
    do {
      page = await transaction.query<PlanRow>({
        text: `select id, plan from lead_imports where organization_id = $1 and id > $2 order by id limit ${PAGE}`,
        values: [tenant.id, page.at(-1)?.id ?? FIRST_ID],
      });
      for (const row of page.filter(isPersonal)) {
        await this.eraseNamesOf(call, row);
        changed.push(row.id);
      }
    } while (page.length === PAGE);
    if (changed.length > 0) await this.removal.eraseCopies(call, changed);
  }

  private async eraseNamesOf(
    { transaction, tenant }: InTransaction,
    { id, plan }: PlanRow,
  ): Promise<void> {
    const columns = (plan.columns ?? []).map(withoutName);
    await transaction.query({
      text: 'update lead_imports set plan = $3, ignored_columns = $4 where organization_id = $1 and id = $2',
      values: [
        ...[tenant.id, id, JSON.stringify({ ...plan, constants: {}, columns })],
        ignoredOf(columns),
      ],
    });
  }
}

function isPersonal({ plan: { columns = [], constants = {} } }: PlanRow): boolean {
  const isEmpty = Object.keys(constants).length === 0;
  return !isEmpty || columns.some(({ header }) => !isImpersonal(header));
}

/** What stands for the name of a column after an erasure. */
const NUMBERED = /^column \d+$/;

function isImpersonal(header: string): boolean {
  return header === '' || isKnownHeader(header) || NUMBERED.test(header);
}

/** The import has ended, so that the target of the column is not needed. */
function withoutName({ header, target }: Column, index: number): Column {
  return isImpersonal(header)
    ? { header, target }
    : { header: `column ${index + 1}`, target: target === null ? null : 'custom_fields' };
}
