/** Whether the window has room for one more column: from 1,600 px on, as the panes have it. */
import { WIDE_FROM } from "../../parts/pane_widths.ts";
import { useMedia } from "../../parts/panes.tsx";

export function useWide(): boolean {
  return useMedia(`(min-width: ${WIDE_FROM}px)`);
}
