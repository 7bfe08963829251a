import type { Times } from '../../../platform/data/records/tenant-repository.js';
import type { CreateTaskDto, TaskPriority, TaskStatus } from '../../../modules/tasks/task.dto.js';
import type { Random } from './random.js';
import { TASK_TITLES } from './words.js';

const HOUR_MS = 3_600_000;

const PRIORITIES: Record<TaskPriority, number> = { low: 20, medium: 50, high: 22, urgent: 8 };
const OVERDUE: Partial<Record<TaskStatus, number>> = { completed: 80, open: 15, cancelled: 5 };
const AHEAD: Partial<Record<TaskStatus, number>> = { open: 60, in_progress: 25, completed: 15 };

/** The lead that a task is about. */
interface Lead {
  readonly id: string;
  readonly first_name: string;
  readonly created_at: Date;
}

/** Creates a task about a lead, for a member of the team. */
export function sampleTask(
  random: Random,
  lead: Lead,
  team: readonly string[],
  now: Date,
): CreateTaskDto & Times {
  const created_at = random.between(lead.created_at, now);
  const due = new Date(created_at.getTime() + random.integer(4, 14 * 24) * HOUR_MS);
  return {
    title: random.pick(TASK_TITLES),
    description: random.chance(0.3) ? `${lead.first_name} expects an answer.` : null,
    priority: random.weighted(PRIORITIES),
    status: random.weighted(due < now ? OVERDUE : AHEAD),
    due_date: random.chance(0.85) ? due : null,
    contact_id: lead.id,
    assigned_to_user_id: random.chance(0.7) ? random.pick(team) : null,
    created_at,
    updated_at: random.between(created_at, due < now ? due : now),
  };
}
