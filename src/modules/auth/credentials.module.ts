import { Global, Module } from '@nestjs/common';
import { CredentialStore } from '../../platform/access/credential-store.js';
import { CredentialsRepository } from './credentials.repository.js';

/** Provides the platform with the look-up of keys. */
@Global()
@Module({
  providers: [{ provide: CredentialStore, useClass: CredentialsRepository }],
  exports: [CredentialStore],
})
export class CredentialsModule {}
