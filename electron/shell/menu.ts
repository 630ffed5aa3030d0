/**
 * The menu, from the registry of actions: one menu for each section, and the roles that a system expects. Choosing an entry
 * does the action in the window, as its key would.
 */
import type { MenuItemConstructorOptions } from "electron";
import { type ActionSection, WINDOW_ACTIONS, type WindowAction } from "../actions.ts";

/** Titles of the sections' menus, in order. */
export const SECTION_MENUS: Readonly<Record<ActionSection, string>> = {
  Pages: "Go",
  Run: "Run",
  Evidence: "Evidence",
  List: "Select",
  Chart: "Chart",
  Window: "View",
};

/** Documents of the Help menu; their hosts are in `DOCUMENT_HOSTS`. */
export const DOCUMENTS: readonly { readonly label: string; readonly url: string }[] = [
  {
    label: "Metal Shading Language Specification",
    url: "https://developer.apple.com/metal/Metal-Shading-Language-Specification.pdf",
  },
  { label: "Metal Feature Set Tables", url: "https://developer.apple.com/metal/Metal-Feature-Set-Tables.pdf" },
];

export interface MenuOptions {
  readonly mac: boolean;
  /** The inspector and reloading are for a checkout. */
  readonly devTools: boolean;
  readonly perform: (action: string) => void;
  readonly openDocument: (url: string) => void;
}

/** A key of the registry as Electron writes it: `mod+shift+p` is `CommandOrControl+Shift+P`. */
export function accelerator(key: string): string {
  const parts = key.split("+");
  const last = parts.pop() ?? "";
  const names = parts.map((part) => (part === "mod" ? "CommandOrControl" : "Shift"));
  return [...names, last.length === 1 ? last.toUpperCase() : last].join("+");
}

function entry(action: WindowAction, perform: MenuOptions["perform"]): MenuItemConstructorOptions {
  // A key without a modifier would be taken away from text fields.
  const key = action.keys.find((text) => text.startsWith("mod+"));
  const item: MenuItemConstructorOptions = { id: action.id, label: action.title, click: () => perform(action.id) };
  // The window listens to keys itself, in every door; where the menu need not, it only shows them. On a Mac it gets the
  // strokes that the window leaves.
  return key === undefined ? item : { ...item, accelerator: accelerator(key), registerAccelerator: false };
}

const SEPARATOR: MenuItemConstructorOptions = { type: "separator" };

const VIEW_ROLES: readonly MenuItemConstructorOptions[] = [
  SEPARATOR,
  { role: "resetZoom" },
  { role: "zoomIn" },
  { role: "zoomOut" },
  SEPARATOR,
  { role: "togglefullscreen" },
];

const DEVELOPER_ROLES: readonly MenuItemConstructorOptions[] = [
  SEPARATOR,
  { role: "reload" },
  { role: "toggleDevTools" },
];

export function menuTemplate({ mac, devTools, perform, openDocument }: MenuOptions): MenuItemConstructorOptions[] {
  const sections = Object.entries(SECTION_MENUS).map(([section, label]): MenuItemConstructorOptions => {
    const own = WINDOW_ACTIONS.filter((action) => action.section === section).map((action) => entry(action, perform));
    const roles = section === "Window" ? [...VIEW_ROLES, ...(devTools ? DEVELOPER_ROLES : [])] : [];
    return { label, submenu: [...own, ...roles] };
  });
  return [
    ...(mac ? [{ role: "appMenu" } as const] : []),
    { role: "fileMenu" },
    { role: "editMenu" },
    ...sections,
    { role: "windowMenu" },
    {
      role: "help",
      submenu: DOCUMENTS.map(({ label, url }) => ({ label, click: () => openDocument(url) })),
    },
  ];
}
