/**
 * What the desktop's preload gives the window beside the contract, and the channels behind it. Everything else that the
 * window wants goes over the port, as in a browser.
 */

/** Name of the object in the window. */
export const SHELL_NAME = "lockstepShell";

/** Data of the message by which a window gets its port to the workbench. */
export const PORT_MESSAGE = "lockstep:port";

/** Between preload and main process. */
export const CHANNELS = {
  /** The window wants a port. */
  connect: "lockstep:connect",
  /** The answer, with the port. */
  port: "lockstep:port",
  /** Id of an action that was chosen in the menu. */
  action: "lockstep:action",
  /** Path of what was dropped on the window, which is a choice of the user as in a dialog. */
  dropped: "lockstep:dropped",
} as const;

/** A `File` of a drop event. Structural, because this file is used where there is no DOM. */
export interface DroppedFile {
  readonly name: string;
  readonly size: number;
}

/** Named functions and nothing else: no object of Electron reaches the window. */
export interface WindowShell {
  /** Asks for a port to the workbench, which arrives as a message of the window with `PORT_MESSAGE`. */
  readonly connect: () => void;
  /** From now on the window does what is chosen in the menu. Called once. */
  readonly onAction: (perform: (id: string) => void) => void;
  /** Path of a file or folder that was dropped on the window; empty where it is on no disk. */
  readonly pathOf: (file: DroppedFile) => string;
}
