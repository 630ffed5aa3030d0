/** The desktop app's main process. What it does is in `shell/`. */
import { startDesktop } from "./shell/desktop.ts";

startDesktop();
