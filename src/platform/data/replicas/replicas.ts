import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import { SessionContext } from '../connection/session-context.js';
import { poolOf } from '../connection/driver-pool.js';
import { sendStatements } from '../connection/statement-pipeline.js';
import { ConcurrencyLimit, Deadline } from '../gateway/policies.js';
import { ReadReplicas } from '../gateway/read-replicas.js';
import type { Statement } from '../gateway/statement.js';
import { TenantSettings } from '../gateway/tenant-settings.js';
import { PrimaryPosition } from './primary-position.js';
import { Replica } from './replica.js';
import { type ReplicaState, replicaStateSql, stateValues } from './replica-state.js';

/** Interval of the checks of all replicas. */
const CHECK_INTERVAL_MS = 1_000;

/** Timeout of reading the position of the primary for a check. */
const POSITION_MS = 1_000;

/** The server that ran a read that may use a replica. */
export type ReadServer = 'replica' | 'primary';

/**
 * Runs reads on the read replicas of `DATABASE_REPLICA_URLS`. A read sees every write that was acknowledged before
 * it, through any instance: its transaction checks that the replica has reached the position that the primary had
 * when the read arrived (docs/adr/0019-read-replicas.md).
 */
@Injectable()
export class Replicas implements ReadReplicas, OnApplicationShutdown {
  /** Numbers of reads since startup. */
  readonly reads: Record<ReadServer, number> = { replica: 0, primary: 0 };
  /** In the order of the setting. */
  readonly all: readonly Replica[];
  private readonly settings: TenantSettings;
  private timer: NodeJS.Timeout | undefined;
  private turn = 0;

  constructor(
    @InjectDataSource() dataSource: DataSource,
    private readonly primary: PrimaryPosition,
    private readonly limit: ConcurrencyLimit,
    { databaseReplicaUrls, databaseMaxConnections }: Settings,
    session: SessionContext,
  ) {
    const name = poolOf(dataSource).options.application_name ?? '';
    const { pool, administration } = planConnections(databaseMaxConnections);
    this.all = databaseReplicaUrls.map((url) => new Replica(url, name, pool + administration));
    this.settings = new TenantSettings(session, (first) => `${replicaStateSql(first)} as state`);
  }

  /**
   * Begins to check and to use the replicas. Without this call the primary runs all reads.
   * @returns resolves after the first check, even if that fails
   */
  async start(): Promise<void> {
    if (this.all.length === 0) return;
    this.timer = setInterval(() => void this.check(), CHECK_INTERVAL_MS).unref();
    await this.check();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.all.map((replica) => replica.close()));
  }

  /** Messages for operators about the replicas that are left out. They contain no addresses. */
  get warnings(): string[] {
    return this.all.flatMap(({ availability: { problem }, ordersNames }, index) => {
      const name = `Read replica ${index + 1}`;
      if (problem) return [`${name} is left out: ${problem}.`];
      return ordersNames ? [] : [`${name} sorts no names: it has another version of ICU.`];
    });
  }

  async read<Row>(
    organizationId: string,
    statement: Statement,
    deadline: Deadline,
  ): Promise<Row[] | undefined> {
    if (this.all.length === 0) return undefined;
    const position = await this.positionFor(statement, deadline);
    const replica = position && this.choose(statement);
    const values = position && stateValues(position);
    const answer = await replica?.use(deadline, async (client) => {
      const { settings } = this;
      const first = settings.of(organizationId, statement.plan, deadline, 'brief', values);
      // The settings return the state of the replica, too.
      const sent = [{ ...first, isSetting: false }, settings.message([statement])];
      const [states, result] = await sendStatements<unknown>(client, sent);
      const [{ state }] = states as [{ state: ReplicaState }];
      return { state, result: result as Row[] };
    });
    this.reads[answer ? 'replica' : 'primary']++;
    if (answer?.state === 'current') this.limit.completed++;
    return answer?.result;
  }

  /** @returns the position that a replica must have reached; undefined if the primary has to run the read */
  private async positionFor(statement: Statement, deadline: Deadline) {
    if (!this.all.some((replica) => replica.isFreeFor(statement))) return undefined;
    return this.primary.read(deadline).catch(() => undefined);
  }

  /** Returns the free replica with the fewest running reads, and replicas with equal numbers in turn. */
  private choose(statement: Statement): Replica | undefined {
    const free = this.all.filter((replica) => replica.isFreeFor(statement));
    const fewest = Math.min(...free.map(({ running }) => running));
    const equals = free.filter(({ running }) => running === fewest);
    return equals[this.turn++ % equals.length];
  }

  /** Checks all replicas. Their states do not change if the primary does not reply. */
  private async check(): Promise<void> {
    const position = await this.primary.read(new Deadline(POSITION_MS)).catch(() => undefined);
    if (position) await Promise.all(this.all.map((replica) => replica.check(position)));
  }
}
