/**
 * A page of its own for `npm run bench -- window`: the product's heat map and its bridge to the workbench, timed where they
 * run. The window does not hold it. The driver, `electron/bench/window.ts`, calls what `globalThis.bench` offers.
 */
import "../zod_config.ts";
import "../styles/tokens.css";
import "../styles/components.css";
import "../styles/controls.css";
import "../styles/verdicts.css";
import "../styles/tables.css";
import "../styles/window.css";
import "../styles/pages.css";
import "../pages/parity/parity.css";
import { createRef, type ReactElement } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { openBridge } from "../bridge.ts";
import { HeatMap, type HeatMapData } from "../charts/heat_map.tsx";
import { GUTTER } from "../charts/plot.ts";
import { startTheme } from "../state/theme.ts";

const SIDE = 1024;
/** What the heat map leaves above and below its cells. */
const MARGIN = 6;
/** One cell in so many is NaN. */
const NAN_EVERY = 65_536;

/** Errors over six decades, as a failing kernel leaves them, the same for the same seed. */
function errors(seed: number): HeatMapData {
  const cells = SIDE * SIDE;
  const values = new Float32Array(cells);
  const flags = new Uint8Array(cells);
  let state = seed;
  for (let cell = 0; cell < cells; cell++) {
    state = (Math.imul(state, 48271) >>> 0) % 0x7fffffff;
    const nan = cell % NAN_EVERY === seed;
    values[cell] = nan ? Number.NaN : 10 ** (-7 + (6 * state) / 0x7fffffff);
    flags[cell] = nan ? 1 : 0;
  }
  const edges = Int32Array.from({ length: SIDE / 128 - 1 }, (_, i) => 128 * (i + 1));
  const set = { kind: "partition", title: "partitions", edges, labels: [] } as const;
  return {
    rows: SIDE,
    columns: SIDE,
    sourceRows: SIDE,
    sourceColumns: SIDE,
    values,
    flags,
    rowEdges: [],
    columnEdges: [set],
  };
}

/** Resolves when the browser has taken the frame that is being made. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve();
      port2.postMessage(null);
    });
  });
}

const canvas = createRef<HTMLCanvasElement>();
const holder = document.getElementById("root")!;
const root = createRoot(holder);

function show(map: HeatMapData): void {
  const nothing = (): void => undefined;
  const page = (
    <div style={{ display: "grid", width: SIDE + GUTTER.left + GUTTER.right, height: SIDE + MARGIN }}>
      <HeatMap
        canvas={canvas}
        map={map}
        rowTitle="head"
        range={{ low: 1e-7, high: 1e-1, log: true }}
        signed={false}
        showNan
        showInfinite
        selected={{ row: 9, column: 392 }}
        onPick={nothing}
        onHover={nothing}
        onSize={nothing}
      />
    </div>
  ) satisfies ReactElement;
  flushSync(() => root.render(page));
}

/** Milliseconds from the values until they are on the canvas and in a frame. Reading a pixel waits for the drawing. */
async function timed(draw: () => void, drawn: () => HTMLCanvasElement): Promise<number> {
  await nextFrame();
  const start = performance.now();
  draw();
  drawn().getContext("2d")!.getImageData(0, 0, 1, 1);
  await nextFrame();
  return performance.now() - start;
}

/** The same pixels put on a canvas as they are: what no heat map can be faster than. */
function plainCanvas(): { readonly canvas: HTMLCanvasElement; readonly put: () => void } {
  const plain = document.createElement("canvas");
  [plain.width, plain.height] = [SIDE, SIDE];
  holder.after(plain);
  const context = plain.getContext("2d")!;
  const image = canvas.current!.getContext("2d")!.getImageData(0, 0, SIDE, SIDE);
  return { canvas: plain, put: () => context.putImageData(image, 0, 0) };
}

async function heatMaps(rounds: number): Promise<{ readonly map: number[]; readonly plain: number[] }> {
  const maps = [errors(1), errors(2)];
  show(maps[0]!);
  await nextFrame();
  const size = [canvas.current?.width, canvas.current?.height];
  if (size[0] !== SIDE || size[1] !== SIDE)
    throw new Error(`The heat map is ${size.join(" x ")}, not ${SIDE} x ${SIDE}.`);
  const { canvas: plain, put } = plainCanvas();
  const times: { map: number[]; plain: number[] } = { map: [], plain: [] };
  for (let round = 1; round <= rounds; round++) {
    times.map.push(
      await timed(
        () => show(maps[round % 2]!),
        () => canvas.current!,
      ),
    );
    times.plain.push(await timed(put, () => plain));
  }
  return times;
}

const workbench = openBridge();

/** Milliseconds of one call, from the question until the array can be read. */
async function array(id: string, path: string, bytes: number): Promise<number> {
  const there = await workbench;
  const start = performance.now();
  const { data } = await there.call("runs.array", { id, path });
  const took = performance.now() - start;
  if (data.byteLength !== bytes) throw new Error(`${data.byteLength} bytes came; ${bytes} were asked for.`);
  return took;
}

startTheme();
export const BENCH = { heatMaps, array } as const;
Object.assign(globalThis, { bench: BENCH });
