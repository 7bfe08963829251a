import { createHash } from 'node:crypto';
import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import { IsNull, Repository } from 'typeorm';
import { ApiKey } from './api-key.entity.js';

export interface AuthenticatedRequest extends Request {
  organizationId: string;
}

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const [type, key] = request.headers.authorization?.split(' ') ?? [];
    if (type !== 'Bearer' || key === undefined) throw new UnauthorizedException();
    const hash = createHash('sha256').update(key).digest();
    const found = await this.keys.findOne({ where: { key_hash: hash, revoked_at: IsNull() } });
    if (!found) throw new UnauthorizedException();
    request.organizationId = found.organization_id;
    return true;
  }
}
