// @ts-check
/**
 * `node build/icon.mjs`: draws the app's icon, `build/icon.icns` and `build/icon.png`, from the window's own `renderer/icon.svg`.
 * Both are kept in the repository, because packaging has no browser.
 */
import fs from "node:fs";
import { chromium } from "playwright-core";
import { findBrowser } from "./browser.mjs";
import { stop } from "./compiler.mjs";

/** Types of pictures in an icon file that hold PNG, by their edge in pixels. Source: `man iconutil`, Apple's icon sets. */
const TYPES = /** @type {const} */ ([
  ["icp4", 16],
  ["icp5", 32],
  ["ic07", 128],
  ["ic08", 256],
  ["ic09", 512],
  ["ic10", 1024],
]);

/** macOS draws icons as tiles of 824 within 1,024 pixels, with corners of 185. The mark takes 78 % of the tile. */
const INSET = 100 / 1024;
const CORNER = 185 / 1024;
const MARK = 0.78;

/** The token `--window` of the light theme. */
const GROUND = "#f3f4f6";

/** @param {import("playwright-core").Page} page @param {string} svg @param {number} size @returns {Promise<Buffer>} */
async function draw(page, svg, size) {
  const tile = `margin:${size * INSET}px;border-radius:${size * CORNER}px;background:${GROUND}`;
  const url = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
  const edge = size * (1 - 2 * INSET);
  const picture = `<img src="${url}" style="display:block;width:${edge * MARK}px;padding:${(edge * (1 - MARK)) / 2}px">`;
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<body style="margin:0"><div style="${tile}">${picture}</div>`);
  await page
    .locator("img")
    .evaluate((image) => /** @type {{ decode: () => Promise<void> }} */ (/** @type {unknown} */ (image)).decode());
  return page.screenshot({ omitBackground: true });
}

/** An icon file: a head, then for each picture its type, length with this head of eight bytes, and bytes. @param {readonly (readonly [string, Buffer])[]} pictures */
function icns(pictures) {
  const parts = pictures.map(([type, png]) => {
    const head = Buffer.alloc(8);
    head.write(type, "latin1");
    head.writeUInt32BE(png.length + 8, 4);
    return Buffer.concat([head, png]);
  });
  const head = Buffer.alloc(8);
  head.write("icns", "latin1");
  head.writeUInt32BE(8 + parts.reduce((sum, part) => sum + part.length, 0), 4);
  return Buffer.concat([head, ...parts]);
}

const executablePath = findBrowser();
if (executablePath === undefined) stop("the icon is drawn by a Chromium browser, and none was found");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
const svg = fs.readFileSync("renderer/icon.svg", "utf8");
/** @type {[string, Buffer][]} */
const pictures = [];
for (const [type, size] of TYPES) pictures.push([type, await draw(page, svg, size)]);
fs.writeFileSync("build/icon.icns", icns(pictures));
fs.writeFileSync("build/icon.png", /** @type {Buffer} */ (pictures.find(([type]) => type === "ic09")?.[1]));
await browser.close();
