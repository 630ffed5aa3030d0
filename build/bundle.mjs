// @ts-check
/** Bundles the command line, the host process and the window's server into `out/`, so that starting them costs no transpiling. */
import { build } from "esbuild";

export async function bundle() {
  await build({
    entryPoints: {
      cli: "electron/cli.ts",
      host: "electron/host/main.ts",
      bench: "electron/host/bench.ts",
      serve: "electron/serve.ts",
    },
    outdir: "out",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    sourcemap: true,
    logLevel: "warning",
    // Optional native helpers of ws that are not installed, and what drives a browser for the benchmark.
    external: ["bufferutil", "utf-8-validate", "playwright-core"],
    // commander is CommonJS and requires builtins at run time.
    banner: {
      js: 'import { createRequire as lockstepRequire } from "node:module"; const require = lockstepRequire(import.meta.url);',
    },
  });
}
