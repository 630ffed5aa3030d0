// @ts-check
/**
 * The fuses of the packaged app: switches in Electron's binary that are set when the app is packaged and that nothing can turn
 * at run time. Plain JavaScript, because packaging reads it before there is anything to compile TypeScript with.
 * Source of names and order: https://www.electronjs.org/docs/latest/tutorial/fuses
 */

/**
 * `index` is the place in the fuse wire. `wanted` is null where the binary's own setting is kept.
 * @typedef {{ readonly index: number, readonly name: string, readonly wanted: boolean | null, readonly reason: string }} Fuse
 */

/** @type {readonly Fuse[]} */
export const FUSES = [
  {
    index: 0,
    name: "RunAsNode",
    wanted: false,
    reason: "the app is no Node for others; the host is a utility process",
  },
  {
    index: 1,
    name: "EnableCookieEncryption",
    wanted: true,
    reason: "there are no cookies; if one came it would be encrypted",
  },
  {
    index: 2,
    name: "EnableNodeOptionsEnvironmentVariable",
    wanted: false,
    reason: "no environment variable loads code",
  },
  {
    index: 3,
    name: "EnableNodeCliInspectArguments",
    wanted: false,
    reason: "no debugger attaches to the main process",
  },
  { index: 4, name: "EnableEmbeddedAsarIntegrityValidation", wanted: true, reason: "a changed archive does not start" },
  { index: 5, name: "OnlyLoadAppFromAsar", wanted: true, reason: "a folder beside the archive cannot take its place" },
  { index: 6, name: "LoadBrowserProcessSpecificV8Snapshot", wanted: false, reason: "there is no snapshot of our own" },
  {
    index: 7,
    name: "GrantFileProtocolExtraPrivileges",
    wanted: false,
    reason: "the window is served under app://, never file://",
  },
  { index: 8, name: "WasmTrapHandlers", wanted: null, reason: "concerns the speed of WebAssembly, which is not used" },
];

const [OFF, ON] = ["0".charCodeAt(0), "1".charCodeAt(0)];

/**
 * What in a binary's fuse wire differs from the table, in words; empty where nothing does. A fuse that the table does not
 * have is a difference: a new Electron brings a new decision.
 * @param {Readonly<Record<string, unknown>>} wire place in the wire to state, as `getCurrentFuseWire` reads it
 * @returns {readonly string[]}
 */
export function fuseProblems(wire) {
  const known = FUSES.flatMap(({ index, name, wanted }) => {
    const state = wire[index];
    if (wanted === null) return [];
    const is = state === ON ? "on" : state === OFF ? "off" : state === undefined ? "missing" : `in state ${state}`;
    const should = wanted ? "on" : "off";
    return is === should ? [] : [`the fuse ${name} is ${is}; it must be ${should}`];
  });
  const unknown = Object.keys(wire).filter(
    (key) => /^\d+$/.test(key) && !FUSES.some(({ index }) => String(index) === key),
  );
  return [
    ...known,
    ...unknown.map((key) => `Electron's binary has a fuse ${key} that electron/shell/fuses.mjs does not decide`),
  ];
}
