/** The result of a tool that takes `dry_run`, with what a dry run and a question to the user show in addition. */
export class Previewed<T extends object = object> {
  constructor(
    readonly result: T,
    readonly preview: object,
    /** What the user is asked. Default: the title of the tool and its record. */
    readonly question?: string,
  ) {}

  /** The result of a tool, which can be one without a preview. */
  static of(result: object): Previewed {
    return result instanceof Previewed ? (result as Previewed) : new Previewed(result, {});
  }
}
