/** The result of a tool that takes `dry_run`, with what a dry run and a question to the user show in addition. */
export class Previewed<T extends object> {
  constructor(
    readonly result: T,
    readonly preview: object,
  ) {}
}
