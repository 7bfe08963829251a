import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const OPENSSL_SKIP_REASON = existsSync('/usr/bin/openssl')
  ? undefined
  : 'openssl is not installed';

/** Files with a certificate of 127.0.0.1 and localhost, which is its own authority. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  /** Both, as HAProxy reads them. */
  readonly pem: string;
}

export async function createCertificate(directory: string): Promise<Certificate> {
  const file = (name: string) => path.join(directory, name);
  const [certificate, key, pem] = [
    file('latitude.crt'),
    file('latitude.key'),
    file('latitude.pem'),
  ];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const options = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const files = ['-keyout', key, '-out', certificate];
  await run('openssl', ['req', '-x509', ...options, '-addext', names, ...files]);
  await writeFile(pem, (await readFile(certificate, 'utf8')) + (await readFile(key, 'utf8')));
  return { certificate, key, pem };
}
