import { Module } from '@nestjs/common';
import { LeadsModule } from './leads/leads.module.js';

/** The features of the product. A team adds its own modules to this list. */
@Module({ imports: [LeadsModule] })
export class AppModule {}
