/** What only the desktop can do for the workbench: the system's dialogs and its file manager. */
import fs from "node:fs";
import path from "node:path";
import { type BrowserWindow, dialog, type OpenDialogOptions, shell } from "electron";
import type { Desktop } from "../workbench/desktop.ts";
import { WorkbenchError } from "../workbench/failure.ts";

/** On a Mac one dialog takes files and folders; elsewhere it is one of them, and a bundle is a folder. */
const BUNDLE_PROPERTIES: NonNullable<OpenDialogOptions["properties"]> =
  process.platform === "darwin" ? ["openFile", "openDirectory"] : ["openDirectory"];

/** The path with every link followed; undefined where nothing is there. */
function realPath(file: string): string | undefined {
  try {
    return fs.realpathSync(file);
  } catch {
    return undefined;
  }
}

function isInside(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  return relative === "" || (!relative.startsWith("..") && !path.isAbsolute(relative));
}

export interface ShellDesktop extends Desktop {
  /** Remembers what the user opened by other means than a dialog, so that it may be revealed. */
  chose(file: string): void;
}

/** `window` gives the window that a dialog belongs to; `evidence` is the folder of the bundles. */
export function desktopOf(window: () => BrowserWindow | undefined, evidence: string): ShellDesktop {
  /** What the user chose, real paths. */
  const chosen = new Set<string>();
  const chose = (file: string): void => void chosen.add(realPath(file) ?? file);

  return {
    chose,
    chooseBundle: async () => {
      const parent = window();
      const options: OpenDialogOptions = {
        title: "Open a bundle",
        buttonLabel: "Open",
        properties: BUNDLE_PROPERTIES,
        filters: [{ name: "Lockstep bundle", extensions: ["lockstep", "zip"] }],
      };
      const { canceled, filePaths } =
        parent === undefined ? await dialog.showOpenDialog(options) : await dialog.showOpenDialog(parent, options);
      const file = canceled ? undefined : filePaths[0];
      if (file === undefined) return null;
      chose(file);
      return file;
    },
    chooseExport: async (name) => {
      const parent = window();
      const options = { title: "Export", buttonLabel: "Export", defaultPath: path.basename(name) };
      const { canceled, filePath } =
        parent === undefined ? await dialog.showSaveDialog(options) : await dialog.showSaveDialog(parent, options);
      if (canceled || filePath === "") return null;
      // The file is not there yet, but its folder is.
      chosen.add(path.join(realPath(path.dirname(filePath)) ?? path.dirname(filePath), path.basename(filePath)));
      return filePath;
    },
    reveal: async (file) => {
      const real = realPath(file);
      if (real === undefined) throw new WorkbenchError(`${file} is not there`, "refresh the list of runs");
      const home = realPath(evidence);
      if ((home === undefined || !isInside(real, home)) && !chosen.has(real)) {
        throw new WorkbenchError(
          `${file} is outside the evidence folder ${evidence}, and was not chosen by you`,
          "open it with the system's own means",
        );
      }
      shell.showItemInFolder(real);
    },
  };
}
