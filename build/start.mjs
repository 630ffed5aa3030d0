// @ts-check
/**
 * `npm start`: opens the window, in the desktop app where Electron's binary can be had, otherwise in the browser from a server
 * on the loopback interface, and says why.
 */
import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { locateProgram, say, stop } from "./compiler.mjs";
import { findElectron, runDesktop, situation } from "./electron.mjs";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const HELP = `npm start -- [options] [bundle.lockstep ...]

Opens the Lockstep window: in the desktop app where Electron's binary can be had and there is a display, otherwise in the
browser, from a server on the loopback interface whose URL holds the token that lets the window in.

  --browser        the browser, whatever there is
  --no-open        the browser's server alone; its URL is printed
  --evidence DIR   folder of the bundles (default: evidence)
  --fetch          try again to download Electron, if that failed in the last 24 hours
  --help           this text

ELECTRON_OVERRIDE_DIST_PATH names a folder with Electron's binary. Ctrl-C ends either in order: a run is cancelled, and what
is finished is kept.
`;

/** Words that are for this program; the others are for the door. */
const OWN = ["--browser", "--no-open", "--fetch", "--help"];

/** @param {readonly string[]} words */
function checkWords(words) {
  words.forEach((word, index) => {
    if (OWN.includes(word) || !word.startsWith("-")) return;
    if (word !== "--evidence") stop(`there is no option ${word}: npm start -- --help lists them`);
    const folder = words[index + 1];
    if (folder === undefined || folder.startsWith("-")) stop("--evidence names no folder: give one after it");
  });
}

/** The program that opens a URL on a desktop session; undefined where there is no such session. */
function opener() {
  if (process.platform === "darwin") return "open";
  const session = process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  return session ? locateProgram("xdg-open") : undefined;
}

/** @param {readonly string[]} words @param {boolean} open */
function runBrowser(words, open) {
  const server = spawn(process.execPath, [path.join(ROOT, "out", "serve.mjs"), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  server.stdout.setEncoding("utf8").on("data", (piece) => {
    const opened = text.includes("\n");
    text += piece;
    process.stdout.write(piece);
    if (opened || !text.includes("\n")) return;
    const program = open ? opener() : undefined;
    if (program === undefined) say("open the URL above in a browser; Ctrl-C ends the workbench");
    else
      spawn(program, [text.split("\n", 1)[0] ?? ""], { stdio: "ignore", detached: true })
        .on("error", () => undefined)
        .unref();
  });
  // The server ends in order, cancelling a run, before this process does.
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => server.kill(signal));
  }
  server.on("exit", (code) => process.exit(code ?? 1));
}

/** @param {readonly string[]} words */
async function main(words) {
  if (words.includes("--help")) {
    process.stdout.write(HELP);
    return;
  }
  checkWords(words);
  const passed = words.filter((word) => !OWN.includes(word));
  const open = !words.includes("--no-open");
  if (open && !words.includes("--browser")) {
    const found = await findElectron(
      situation(),
      words.includes("--fetch") || process.env.LOCKSTEP_FETCH_ELECTRON === "1",
    );
    // The app's own default is a folder of the user; here it is the one of every other door.
    const desktop = passed.includes("--evidence") ? passed : ["--evidence", "evidence", ...passed];
    const end = "program" in found ? await runDesktop(found.program, ROOT, desktop) : found;
    if ("code" in end) process.exit(end.code);
    say(`no desktop app: ${end.reason}. The window opens in the browser instead`);
  }
  runBrowser(passed, open);
}

await main(process.argv.slice(2));
