/**
 * The menu, from the registry of actions: one menu for each section, and the roles that a system expects. Choosing an entry
 * does the action in the window, as its key would.
 */
import type { MenuItemConstructorOptions } from "electron";
import { type ActionSection, WINDOW_ACTIONS, type WindowAction } from "../actions.ts";

/** Titles of the sections' menus, in order. */
const SECTION_MENUS: Readonly<Record<ActionSection, string>> = {
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

/** Where a Mac looks for them; elsewhere they are in the menus of their section and of help. */
const ABOUT = "window.about";
const SETTINGS = "window.settings";

export function menuTemplate({ mac, devTools, perform, openDocument }: MenuOptions): MenuItemConstructorOptions[] {
  const named = (id: string): MenuItemConstructorOptions[] =>
    WINDOW_ACTIONS.filter((action) => action.id === id).map((action) => entry(action, perform));
  const appMenu: MenuItemConstructorOptions = {
    role: "appMenu",
    submenu: [
      ...named(ABOUT),
      SEPARATOR,
      ...named(SETTINGS),
      SEPARATOR,
      { role: "services" },
      SEPARATOR,
      { role: "hide" },
      { role: "hideOthers" },
      { role: "unhide" },
      SEPARATOR,
      { role: "quit" },
    ],
  };
  const elsewhere = mac ? [ABOUT, SETTINGS] : [ABOUT];
  const sections = Object.entries(SECTION_MENUS).map(([section, label]): MenuItemConstructorOptions => {
    const items = WINDOW_ACTIONS.filter(({ id, section: own }) => own === section && !elsewhere.includes(id)).map(
      (action) => entry(action, perform),
    );
    const roles = section === "Window" ? [...VIEW_ROLES, ...(devTools ? DEVELOPER_ROLES : [])] : [];
    return { label, submenu: [...items, ...roles] };
  });
  return [
    ...(mac ? [appMenu] : []),
    { role: "fileMenu" },
    { role: "editMenu" },
    ...sections,
    { role: "windowMenu" },
    {
      role: "help",
      submenu: [
        ...DOCUMENTS.map(({ label, url }) => ({ label, click: () => openDocument(url) })),
        ...(mac ? [] : [SEPARATOR, ...named(ABOUT)]),
      ],
    },
  ];
}
