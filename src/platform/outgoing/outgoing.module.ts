import { Module } from '@nestjs/common';
import { OutgoingRequests } from './outgoing-requests.js';

/** Requests to URLs that callers have named, such as those of webhooks. */
@Module({ providers: [OutgoingRequests], exports: [OutgoingRequests] })
export class OutgoingModule {}
