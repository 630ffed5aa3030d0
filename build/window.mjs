// @ts-check
/** Builds the window into `out/renderer`: React by Vite, with no inline script or style, so that the strict policy holds. */
import react from "@vitejs/plugin-react";
import { build } from "vite";

export async function buildWindow() {
  await build({
    configFile: false,
    root: "renderer",
    base: "./",
    logLevel: "warn",
    plugins: [react()],
    build: {
      outDir: "../out/renderer",
      emptyOutDir: true,
      target: "es2022",
      sourcemap: false,
      // Both would put text of their own into the page.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1500,
    },
  });
}
