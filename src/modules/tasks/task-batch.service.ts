import { Injectable } from '@nestjs/common';
import type { BatchDto, BatchOutcome } from '../../platform/data/batches/batch.dto.js';
import { itemDtosOf } from '../../platform/data/batches/batch-item.js';
import { BatchRunner } from '../../platform/data/batches/batch-runner.js';
import type { BatchTarget } from '../../platform/data/batches/batch-target.js';
import type { Call } from '../../platform/data/call.js';
import { CreateTaskDto, UpdateTaskDto } from './task.dto.js';
import { TasksService } from './tasks.service.js';

/** Creates, changes and deletes several tasks (docs/contract/batches.md). */
@Injectable()
export class TaskBatchService {
  private readonly target: BatchTarget<CreateTaskDto, UpdateTaskDto>;

  constructor(
    private readonly batches: BatchRunner,
    tasks: TasksService,
  ) {
    this.target = {
      items: itemDtosOf(CreateTaskDto, UpdateTaskDto),
      service: tasks,
      remove: (call, id) => tasks.delete(call, id),
      removed: 'deleted',
    };
  }

  /** @throws ApiError of the first item that fails, if the batch is atomic; `create_failed` */
  run(call: Call, batch: BatchDto): Promise<BatchOutcome> {
    return this.batches.run(call, batch, this.target);
  }
}
