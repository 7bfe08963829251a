import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DatabaseStatus } from '../database/database-status.js';
import type { HttpAdapter } from './http-adapter.js';

const PING_TIMEOUT_MS = 1_000;

/** Whether this instance can serve. */
@Injectable()
export class HealthService {
  constructor(
    private readonly database: DatabaseStatus,
    private readonly host: HttpAdapterHost<HttpAdapter>,
  ) {}

  /** What keeps this instance from serving requests, if anything does. */
  async obstacle(): Promise<'draining' | 'database' | undefined> {
    if (this.host.httpAdapter.isDraining) return 'draining';
    return (await this.database.answersWithin(PING_TIMEOUT_MS)) ? undefined : 'database';
  }
}
