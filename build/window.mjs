// @ts-check
/** Builds the window into `out/renderer`: React by Vite, with no inline script or style, so that the strict policy holds. */

import fs from "node:fs";
import path from "node:path";
import react from "@vitejs/plugin-react";
import { build } from "vite";

/**
 * Builds the page in the folder `source`, which holds an index.html, into the folder `out`.
 * @param {string} source @param {string} out
 */
export async function buildWindow(source = "renderer", out = "out/renderer") {
  const fresh = `${out}.new`;
  await build({
    configFile: false,
    root: source,
    base: "./",
    logLevel: "warn",
    plugins: [react()],
    build: {
      outDir: path.relative(source, fresh),
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
  fs.rmSync(out, { recursive: true, force: true });
  fs.renameSync(fresh, out);
}
