// @ts-check
/**
 * `npm start`: opens the window. The desktop shell is not built yet, so that it opens in the browser, from a server on the
 * loopback interface. The URL holds the token that lets the window in.
 */
import { spawn } from "node:child_process";
import { locateProgram, say } from "./compiler.mjs";

const arguments_ = process.argv.slice(2);
const noOpen = arguments_.includes("--no-open");

/** The program that opens a URL on a desktop session; undefined where there is no such session. */
function opener() {
  if (process.platform === "darwin") return "open";
  const session = process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  return session ? locateProgram("xdg-open") : undefined;
}

say("the desktop app (Electron) is not there yet: the window opens in the browser instead");
const server = spawn(process.execPath, ["out/serve.mjs", ...arguments_.filter((word) => word !== "--no-open")], {
  stdio: ["ignore", "pipe", "inherit"],
});
let text = "";
server.stdout.setEncoding("utf8").on("data", (piece) => {
  const opened = text.includes("\n");
  text += piece;
  process.stdout.write(piece);
  if (opened || !text.includes("\n")) return;
  const program = noOpen ? undefined : opener();
  if (program === undefined) say("open the URL above in a browser; Ctrl-C ends the workbench");
  else
    spawn(program, [text.split("\n", 1)[0] ?? ""], { stdio: "ignore", detached: true })
      .on("error", () => undefined)
      .unref();
});
// The server ends in order, cancelling a run, before this process does.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.on(signal, () => server.kill(signal));
server.on("exit", (code) => process.exit(code ?? 1));
