/** Another living process has the data directory. */
export class DataDirectoryInUseError extends Error {
  constructor(directory: string, holder: string, whatToDo: string) {
    super(`The data directory ${directory} is in use by ${holder}: ${whatToDo}.`);
    this.name = 'DataDirectoryInUseError';
  }
}

/** The code of a failed system call, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** What an error of any kind says. */
export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}

/** For `catch`: this value when a file does not exist; any other failure is thrown on. */
export function unlessMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (errorCode(error) === 'ENOENT') return value;
    throw error;
  };
}
