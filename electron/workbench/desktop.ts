/**
 * What only a desktop can do for the workbench: dialogs of the system and its file manager. The desktop shell hands it to
 * `openWorkbench`; in the browser it is absent, and what needs it says so.
 */
export interface Desktop {
  /** Asks which bundle to open: absolute path of a `.lockstep` folder or archive; null where the user thought better of it. */
  chooseBundle(): Promise<string | null>;
  /** Asks where an export goes, with `name` as the suggestion: absolute path; null where the user thought better of it. */
  chooseExport(name: string): Promise<string | null>;
  /**
   * Shows a file or folder in the system's file manager. Rejects with `WorkbenchError` where `path` is outside the evidence
   * folder and is no export or bundle that the user chose.
   */
  reveal(path: string): Promise<void>;
}
