import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Readiness } from '../../database/readiness/readiness.js';
import type { HttpAdapter } from '../lifecycle/http-adapter.js';

/** The reason why an instance is not ready. */
export interface ReadinessProblem {
  readonly reason: 'draining' | 'database';
  /** A sentence for operators, without records, keys and addresses. */
  readonly detail?: string;
}

@Injectable()
export class HealthService {
  constructor(
    private readonly database: Readiness,
    private readonly host: HttpAdapterHost<HttpAdapter>,
  ) {}

  /** @returns undefined if the instance is ready */
  async findReadinessProblem(): Promise<ReadinessProblem | undefined> {
    if (this.host.httpAdapter.isDraining) return { reason: 'draining' };
    const detail = await this.database.obstacle();
    return detail === undefined ? undefined : { reason: 'database', detail };
  }
}
