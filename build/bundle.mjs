// @ts-check
/**
 * Bundles the command line, the host process, the window's server and the desktop app's main process into `out/`, so that
 * starting them costs no transpiling.
 */
import { build } from "esbuild";

export async function bundle() {
  await bundlePreload();
  await build({
    entryPoints: {
      main: "electron/main.ts",
      cli: "electron/cli.ts",
      host: "electron/host/main.ts",
      bench: "electron/host/bench.ts",
      math: "electron/host/math.ts",
      mutate: "electron/host/mutate.ts",
      accept: "electron/accept/main.ts",
      accept_host: "electron/host/accept.ts",
      serve: "electron/serve.ts",
      verify_worker: "electron/evidence/verify_worker.ts",
    },
    outdir: "out",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    sourcemap: true,
    logLevel: "warning",
    // Electron's own module, optional native helpers of ws that are not installed, and what drives a browser for the benchmark.
    external: ["electron", "bufferutil", "utf-8-validate", "playwright-core"],
    // commander is CommonJS and requires builtins at run time.
    banner: {
      js: 'import { createRequire as lockstepRequire } from "node:module"; const require = lockstepRequire(import.meta.url);',
    },
  });
}

/** A sandboxed preload is one file of CommonJS. */
async function bundlePreload() {
  await build({
    entryPoints: ["electron/preload.ts"],
    outfile: "out/preload.cjs",
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    logLevel: "warning",
    external: ["electron"],
  });
}
