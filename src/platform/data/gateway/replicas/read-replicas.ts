import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { repeat } from '../../../config/repeated-work.js';
import { Settings } from '../../../config/settings.js';
import { BatchConnections } from '../batch-connections.js';
import { Deadline } from '../policies.js';
import { SystemDatabase } from '../system-database.js';
import type { Statement } from '../statement.js';
import {
  FIND_POSITION,
  FIND_PROBLEM,
  problemValues,
  Replica,
  type WalPosition,
} from './replica.js';

/** Interval of the checks of all replicas. */
const CHECK_INTERVAL_MS = 1_000;

/** Timeout of reading the position of the primary for a check. */
const POSITION_MS = 1_000;

/** The server that ran a read that may use a replica. */
type ReadServer = 'replica' | 'primary';

/**
 * Runs reads on the read replicas of `DATABASE_REPLICA_URLS`. A read sees every write that was acknowledged before
 * it, through any instance: its transaction checks that the replica has reached the position that the primary had
 * when the read arrived (docs/adr/0019-read-replicas.md).
 */
@Injectable()
export class ReadReplicas implements OnApplicationShutdown {
  /** Numbers of reads since startup. */
  readonly reads: Record<ReadServer, number> = { replica: 0, primary: 0 };
  /** In the order of the setting. */
  readonly all: readonly Replica[];
  private stop = (): void => undefined;
  private turn = 0;

  constructor(
    private readonly connections: BatchConnections,
    private readonly database: SystemDatabase,
    { databaseReplicaUrls }: Settings,
  ) {
    const { plan, requests } = connections;
    const name = requests.options.application_name ?? '';
    const size = plan.pool + plan.background;
    this.all = databaseReplicaUrls.map((url) => new Replica(url, name, size));
  }

  /**
   * Begins to check and to use the replicas. Without this call the primary runs all reads.
   * @returns resolves after the first check, even if that fails
   */
  async start(): Promise<void> {
    if (this.all.length === 0) return;
    await this.check();
    this.stop = repeat(CHECK_INTERVAL_MS, () => this.check(), 'the read replicas were not checked');
  }

  async onApplicationShutdown(): Promise<void> {
    this.stop();
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

  /**
   * Runs a read that may use a replica.
   * @returns the rows; undefined if the primary has to run the statement
   */
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
    const { settings } = this.connections;
    // The problem comes first, so that the statement sees every write up to the position.
    return replica?.read<Row>(deadline, () => [
      settings.message([{ text: FIND_PROBLEM, values: problemValues(position) }]),
      settings.of(organizationId, statement.plan, deadline, 'brief'),
      settings.message([statement]),
    ]);
  }

  /** @returns undefined if the primary does not reply */
  private async findPosition(deadline: Deadline): Promise<WalPosition | undefined> {
    const positions = this.database.read<WalPosition>(FIND_POSITION, [], deadline);
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
