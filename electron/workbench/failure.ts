/** Failures of the workbench that are answers: what was asked for is not there or cannot be now, and what to do. */
export class WorkbenchError extends Error {
  override readonly name = "WorkbenchError";
  readonly mend: string;

  constructor(message: string, mend: string) {
    super(message);
    this.mend = mend;
  }
}
