/** Another running process uses the data directory. */
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

/** The message of an error of any kind. */
export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : String(error);
}

/** For `catch`: returns the value if a file does not exist, and rethrows other errors. */
export function unlessMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (errorCode(error) === 'ENOENT') return value;
    throw error;
  };
}
