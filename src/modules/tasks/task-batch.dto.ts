import { BatchDto, BatchItems } from '../../platform/data/batches/batch.dto.js';

const EXAMPLE = [
  { action: 'create', data: { title: 'Call Grace' } },
  { action: 'delete', id: '01a1fbde-995e-72a3-a032-ab1c988b9794' },
];

/** Changes of several tasks (docs/contract/batches.md). */
export class TaskBatchDto extends BatchDto {
  @BatchItems(['create', 'update', 'delete'], EXAMPLE) declare items: readonly unknown[];
}
