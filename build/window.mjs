// @ts-check
/** Builds the window into `out/renderer`: React by Vite, with no inline script or style, so that the strict policy holds. */

import fs from "node:fs";
import react from "@vitejs/plugin-react";
import { build } from "vite";

const OUT = "out/renderer";
const FRESH = "out/renderer.new";

export async function buildWindow() {
  await build({
    configFile: false,
    root: "renderer",
    base: "./",
    logLevel: "warn",
    plugins: [react()],
    build: {
      outDir: `../${FRESH}`,
      emptyOutDir: true,
      target: "es2022",
      sourcemap: false,
      // Both would put text of their own into the page.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1500,
    },
  });
  // A server that starts meanwhile finds the old window or the new one, never half of it.
  fs.rmSync(OUT, { recursive: true, force: true });
  fs.renameSync(FRESH, OUT);
}
