/** Texts of records that would do harm if a page took them for more than text. */
export const HOSTILE = {
  script: '<script>alert(1)</script><img src=x onerror=alert(2)>',
  override: '\u202Etxt.exe\u202C',
  long: 'ä'.repeat(5_000),
} as const;
