// @ts-check
/** Finds the browser that the end-to-end tests drive; as root on Debian or Ubuntu it is installed, aloud. */
import fs from "node:fs";
import { pathToFileURL } from "node:url";
import { locateProgram, requirePackages } from "./compiler.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const MAC = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Path of a Chromium, `LOCKSTEP_BROWSER` first. @returns {string | undefined} */
export function findBrowser() {
  const forced = process.env.LOCKSTEP_BROWSER;
  if (forced) return fs.existsSync(forced) ? forced : undefined;
  for (const name of NAMES) {
    const found = locateProgram(name);
    if (found !== undefined) return found;
  }
  return MAC.find((file) => fs.existsSync(file));
}

export function requireBrowser() {
  requirePackages(
    "A Chromium browser is needed for the end-to-end tests of the window, and none was found (LOCKSTEP_BROWSER names one).",
    ["chromium"],
    () => findBrowser() !== undefined,
    process.platform === "darwin" ? "brew install --cask google-chrome" : "sudo apt-get install -y chromium",
  );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) requireBrowser();
