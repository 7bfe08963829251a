import { UpdatedRecords, UpdateItemOf } from '../mcp/tools/several-records.js';
import { UpdateTaskDto } from './task.dto.js';

/** A task that `update_tasks` changes, without its id. */
export class UpdateTaskItemDto extends UpdateItemOf(UpdateTaskDto) {}

/** The arguments of `update_tasks`. */
export class UpdateTasksDto {
  @UpdatedRecords(UpdateTaskItemDto, 'Tasks, each with the parameters of update_task.', [
    { id: '01a1fbde-995e-72a3-a032-ab1c988b9794', status: 'completed' },
  ])
  tasks: readonly unknown[];
}
