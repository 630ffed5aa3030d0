/** Values of one row as colours around 0: too many to read, enough to see what two rows have in common. */
import { type ReactElement, useLayoutEffect, useRef } from "react";
import { ramp, stopsOf, useDrawnTheme } from "./colors.ts";
import { paintCells } from "./heat_map_pixels.ts";
import { useSize } from "./use_size.ts";

interface ValueStripProps {
  readonly values: Float32Array;
  readonly label: string;
  /** From 0 upwards on the sequential scale instead of around 0. */
  readonly magnitudes?: boolean;
}

const HEIGHT = 9;

export function ValueStrip({ values, label, magnitudes = false }: ValueStripProps): ReactElement {
  const [holder, { width }] = useSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useDrawnTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the tokens that are read.
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0 || values.length === 0) return;
    element.width = Math.round(width * devicePixelRatio);
    element.height = 1;
    const image = context.createImageData(element.width, 1);
    const high = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    paintCells(
      new Uint32Array(image.data.buffer),
      element.width,
      1,
      { rows: 1, columns: values.length, values },
      { low: 0, high: high === 0 ? 1 : high, log: false },
      ramp(stopsOf(magnitudes ? "seq" : "div")),
      !magnitudes,
    );
    context.putImageData(image, 0, 0);
  }, [values, width, magnitudes, theme]);
  return (
    <div ref={holder}>
      <canvas ref={canvas} className="cv" role="img" aria-label={label} style={{ width: "100%", height: HEIGHT }} />
    </div>
  );
}
