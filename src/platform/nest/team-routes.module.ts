import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { HttpModule } from '../http/http.module.js';
import { RouteThrottle } from './route-throttle.js';
import { TeamRoutes } from './team-routes.js';

/** Runs the guards, pipes and interceptors of a team beside those of Latitude. */
@Module({
  imports: [AccessModule, HttpModule],
  providers: [RouteThrottle, TeamRoutes],
})
export class TeamRoutesModule {}
