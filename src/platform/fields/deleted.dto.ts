import { Flag } from './kinds/kinds.js';
import { RecordOf } from './field.js';

class Deletion {
  @Flag({ required: true, description: 'Always true.', example: true }) deleted: boolean;
}

/** The response to a deletion. */
export class DeletedDto extends RecordOf(Deletion) {}
