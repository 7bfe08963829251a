/**
 * SQL condition of a key that is neither revoked nor expired.
 * @param key alias of the table `api_keys`
 */
export function isValidKeySql(key: string): string {
  return `${key}.revoked_at is null and (${key}.expires_at is null or ${key}.expires_at > now())`;
}
