export const HAPROXY_PATH: string;
export const IS_PRIMARY: string;

export function instancesConfiguration(
  port: number,
  instances: readonly number[],
  options?: { readonly repeats?: boolean; readonly pem?: string },
): string;
export function postgresConfiguration(
  port: number,
  servers: readonly number[],
  script: string,
): string;
export function statsSection(port: number): string;

export function serverRows(
  statsPort: number,
  section: string,
): Promise<readonly Readonly<Record<'svname' | 'status' | 'lbtot', string>>[]>;
