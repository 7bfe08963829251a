/** The environment of a suite, as Jest creates and ends it. */
export default class ProcessEnvironment {
  constructor(config: { projectConfig: object });
  setup(): Promise<void>;
  teardown(): Promise<void>;
}
