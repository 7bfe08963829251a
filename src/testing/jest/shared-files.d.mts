/** Files that run once per process. */
export class SharedFiles {
  transformWith(transform: (file: string) => string): void;
  require(file: string): unknown;
}
