import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { Lead } from './lead.entity.js';
import { LeadsController } from './leads.controller.js';
import { LeadsService } from './leads.service.js';

export interface DatabaseOptions {
  connection: { host: string; port: number; user: string; database: string };
  poolSize: number;
}

@Module({})
export class AppModule {
  static forRoot({ connection, poolSize }: DatabaseOptions): DynamicModule {
    const { user: username, ...address } = connection;
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({
          type: 'postgres',
          ...address,
          username,
          poolSize,
          entities: [Lead, ApiKey],
          installExtensions: false,
        }),
        TypeOrmModule.forFeature([Lead, ApiKey]),
      ],
      controllers: [LeadsController],
      providers: [LeadsService, { provide: APP_GUARD, useClass: ApiKeyGuard }],
    };
  }
}
