/** The environment of a suite, as Jest creates and ends it. */
export default class ProcessEnvironment {
  constructor(config: { projectConfig: object });
  setup(): Promise<void>;
  handleTestEvent(event: {
    name: string;
    test: { name: string; errors: readonly unknown[] };
  }): void;
  teardown(): Promise<void>;
}
