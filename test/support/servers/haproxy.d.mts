export const HAPROXY_PATH: string;
export const DEFAULTS: string;

export const REPEATS: string;

export function instancesSection(
  port: number,
  instances: readonly number[],
  options?: string,
): string;
export function serverLines(ports: readonly number[]): string;
export function statsSection(port: number): string;

export function serverRows(
  statsPort: number,
  section: string,
): Promise<readonly Readonly<Record<'svname' | 'status' | 'lbtot', string>>[]>;
