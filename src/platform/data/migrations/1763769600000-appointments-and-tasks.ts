import type { MigrationInterface, QueryRunner } from 'typeorm';

const TIMESTAMPS = `
    created_at timestamptz(3) not null default date_trunc('milliseconds', now()),
    updated_at timestamptz(3) not null default date_trunc('milliseconds', now())`;

const APPOINTMENTS = `
  create table appointments (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    lead_id uuid not null,
    start_time timestamptz(3) not null,
    end_time timestamptz(3) not null,
    type text,
    location text,
    notes text,
    status text not null,
    booked_by text not null,
    outcome text,
    outcome_notes text,
    ${TIMESTAMPS},
    primary key (organization_id, id),
    foreign key (organization_id, lead_id) references leads (organization_id, id) on delete cascade
  )`;

const APPOINTMENTS_INDEXES = [
  `create index appointments_by_start_time on appointments (organization_id, start_time, id)`,
  `create index appointments_by_created_at on appointments (organization_id, created_at, id)`,
  `create index appointments_by_status on appointments (organization_id, status, start_time, id)`,
  `create index appointments_by_lead on appointments (organization_id, lead_id, start_time, id)`,
];

/** Priorities sort by their rank, through an index. */
const TASKS_PRIORITY_RANK = `array_position(
  array['low', 'medium', 'high', 'urgent'], priority)`;

const TASKS = `
  create table tasks (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    title text not null,
    description text,
    priority text not null,
    status text not null,
    due_date timestamptz(3),
    contact_id uuid,
    assigned_to_user_id uuid,
    created_by_user_id uuid,
    created_by_ai boolean not null,
    ${TIMESTAMPS},
    deleted_at timestamptz(3),
    priority_rank integer not null generated always as (${TASKS_PRIORITY_RANK}) stored,
    primary key (organization_id, id),
    foreign key (organization_id, contact_id) references leads (organization_id, id)
      on delete set null (contact_id)
  )`;

const TASKS_INDEXES = [
  `create index tasks_by_created_at on tasks (organization_id, created_at, id)`,
  `create index tasks_by_due_date on tasks (organization_id, due_date, id)`,
  // Tasks without a due date come last in both directions. One index cannot serve both.
  `create index tasks_by_due_date_desc on tasks
     (organization_id, due_date desc nulls last, id desc)`,
  `create index tasks_by_priority on tasks (organization_id, priority_rank, id)`,
  `create index tasks_by_status on tasks (organization_id, status, created_at, id)`,
  `create index tasks_by_assignee on tasks
     (organization_id, assigned_to_user_id, created_at, id)`,
  `create index tasks_by_contact on tasks (organization_id, contact_id, created_at, id)`,
].map((index) => `${index} where deleted_at is null`);

const DESCRIBE_PRIORITY_RANK = `
  insert into typeorm_metadata
  values ('GENERATED_COLUMN', current_database(), current_schema(), 'tasks', 'priority_rank', $1)`;

export class AppointmentsAndTasks1763769600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const statements = [
      APPOINTMENTS,
      ...APPOINTMENTS_INDEXES,
      ...protect('appointments'),
      TASKS,
      ...TASKS_INDEXES,
      ...protect('tasks'),
    ];
    for (const statement of statements) await runner.query(statement);
    await runner.query(DESCRIBE_PRIORITY_RANK, [TASKS_PRIORITY_RANK]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table tasks, appointments');
  }
}

/** Puts a table under row-level security: a row is visible to its organization alone. */
function protect(table: string): string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
    `do $$ begin
       if exists (select from pg_roles where rolname = 'latitude_app') then
         grant select, insert, update, delete on ${table} to latitude_app;
       end if;
     end $$`,
  ];
}
