import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import { SessionContext } from '../connection/session-context.js';
import { poolOf } from '../connection/driver-pool.js';
import { sendStatements } from '../connection/statement-pipeline.js';
import { Deadline } from '../gateway/policies.js';
import { ReadReplicas } from '../gateway/read-replicas.js';
import { SharedLookups } from '../gateway/shared-lookups.js';
import type { Statement } from '../gateway/statement.js';
import { TenantSettings } from '../gateway/tenant-settings.js';
import {
  FIND_POSITION,
  Replica,
  type ReplicaState,
  STATE_SQL,
  stateValues,
  type WalPosition,
} from './replica.js';

/** Interval of the checks of all replicas. */
const CHECK_INTERVAL_MS = 1_000;

/** Timeout of reading the position of the primary for a check. */
const POSITION_MS = 1_000;

const FIND_STATE = `select ${STATE_SQL} as state`;

/** The server that ran a read that may use a replica. */
type ReadServer = 'replica' | 'primary';

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
    private readonly lookups: SharedLookups,
    { databaseReplicaUrls, databaseMaxConnections }: Settings,
    session: SessionContext,
  ) {
    const name = poolOf(dataSource).options.application_name ?? '';
    const { pool, administration } = planConnections(databaseMaxConnections);
    this.all = databaseReplicaUrls.map((url) => new Replica(url, name, pool + administration));
    this.settings = new TenantSettings(session);
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
    const rows = await this.attempt<Row>(organizationId, statement, deadline);
    this.reads[rows ? 'replica' : 'primary']++;
    return rows;
  }

  private async attempt<Row>(organizationId: string, statement: Statement, deadline: Deadline) {
    if (this.freeFor(statement).length === 0) return undefined;
    const position = await this.findPosition(deadline);
    if (!position) return undefined;
    const free = this.freeFor(statement);
    // The replica with the fewest running reads, and replicas with equal numbers in turn.
    const fewest = Math.min(...free.map(({ running }) => running));
    const equals = free.filter(({ running }) => running === fewest);
    const replica = equals[this.turn++ % equals.length];
    return replica?.use(deadline, async (client) => {
      // The state comes first, so that the statement sees every write up to the position.
      const [states, , result] = await sendStatements<unknown>(client, [
        this.settings.message([{ text: FIND_STATE, values: stateValues(position) }]),
        this.settings.of(organizationId, statement.plan, deadline, 'brief'),
        this.settings.message([statement]),
      ]);
      const [{ state }] = states as [{ state: ReplicaState }];
      return { state, result: result as Row[] };
    });
  }

  /** @returns undefined if the primary does not reply */
  private async findPosition(deadline: Deadline): Promise<WalPosition | undefined> {
    const positions = this.lookups.find<WalPosition>('position', FIND_POSITION, [], deadline);
    return (await positions.catch(() => []))[0];
  }

  private freeFor(statement: Statement): Replica[] {
    return this.all.filter((replica) => replica.isFreeFor(statement));
  }

  /** Checks all replicas. Their states do not change if the primary does not reply. */
  private async check(): Promise<void> {
    const position = await this.findPosition(new Deadline(POSITION_MS));
    if (position) await Promise.all(this.all.map((replica) => replica.check(position)));
  }
}
