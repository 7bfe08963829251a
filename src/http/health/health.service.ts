import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Readiness } from '../../database/readiness/readiness.js';
import type { HttpAdapter } from '../lifecycle/http-adapter.js';

/** Why an instance should not be sent requests. */
export interface ReadinessProblem {
  readonly reason: 'draining' | 'database';
  /** A sentence for operators, which names no record, key or address. */
  readonly detail?: string;
}

/** Whether this instance can serve. */
@Injectable()
export class HealthService {
  constructor(
    private readonly database: Readiness,
    private readonly host: HttpAdapterHost<HttpAdapter>,
  ) {}

  /** What keeps this instance from serving requests, if anything does. */
  async findReadinessProblem(): Promise<ReadinessProblem | undefined> {
    if (this.host.httpAdapter.isDraining) return { reason: 'draining' };
    const detail = await this.database.obstacle();
    return detail === undefined ? undefined : { reason: 'database', detail };
  }
}
