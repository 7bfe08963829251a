import { BatchDto, BatchItems } from '../../platform/data/batches/batch.dto.js';

const EXAMPLE = [
  {
    action: 'update',
    id: '01a1fbde-995e-72a3-a032-ab1c988b9794',
    data: { status: 'confirmed' },
  },
  { action: 'delete', id: '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43' },
];

/** Changes of several appointments (docs/contract/batches.md). */
export class AppointmentBatchDto extends BatchDto {
  @BatchItems(['create', 'update', 'delete'], EXAMPLE) declare items: readonly unknown[];
}
