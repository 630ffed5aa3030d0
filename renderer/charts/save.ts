/** Files that a chart hands out: CSV, the picture of a canvas, an SVG with its colours in it. */
import { token } from "./colors.ts";

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A field of a CSV file, quoted where it must be. */
function csvField(value: string | number): string {
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lines of a CSV file. `note` stands above the head: what the figures are of. */
export function csvText(note: string, head: readonly string[], rows: Iterable<readonly (string | number)[]>): string {
  const lines = [`# ${note}`, head.map(csvField).join(",")];
  for (const row of rows) lines.push(row.map(csvField).join(","));
  return `${lines.join("\n")}\n`;
}

export function saveCsv(name: string, text: string): void {
  save(new Blob([text], { type: "text/csv" }), `${name}.csv`);
}

/** Height of the line beneath a picture, in CSS pixels. */
const NOTE = 20;

/** The picture of a canvas with `note` beneath: what it shows, and how it was executed. */
export function savePng(name: string, canvas: HTMLCanvasElement, note: string): void {
  const noted = document.createElement("canvas");
  const ratio = devicePixelRatio;
  noted.width = canvas.width;
  noted.height = canvas.height + Math.round(NOTE * ratio);
  const context = noted.getContext("2d");
  if (context === null) return;
  context.fillStyle = token("--surface");
  context.fillRect(0, 0, noted.width, noted.height);
  context.drawImage(canvas, 0, 0);
  context.font = `${11 * ratio}px ${token("--font-ui")}`;
  context.fillStyle = token("--text-2");
  context.fillText(note, 6 * ratio, canvas.height + 14 * ratio, noted.width - 12 * ratio);
  saveCanvas(name, noted);
}

/** A canvas as it is. */
export function saveCanvas(name: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((blob) => {
    if (blob !== null) save(blob, `${name}.png`);
  }, "image/png");
}

/** Properties that the style sheet gives to parts of a drawing. */
const DRAWN = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "paint-order",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
];

/** The drawing as it is shown, with `note` beneath: readable without this window's style sheets. */
export function saveSvg(name: string, svg: SVGSVGElement, note: string): void {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const shown = svg.querySelectorAll("*");
  for (const [index, part] of [...copy.querySelectorAll("*")].entries()) {
    const style = getComputedStyle(shown[index]!);
    for (const property of DRAWN) part.setAttribute(property, style.getPropertyValue(property));
  }
  const ns = "http://www.w3.org/2000/svg";
  const [width, height] = [svg.clientWidth, svg.clientHeight];
  const ground = document.createElementNS(ns, "rect");
  const line = document.createElementNS(ns, "text");
  const title = document.createElementNS(ns, "title");
  const set = (part: Element, values: Readonly<Record<string, string | number>>): void => {
    for (const [key, value] of Object.entries(values)) part.setAttribute(key, String(value));
  };
  set(copy, { width, height: height + NOTE, viewBox: `0 0 ${width} ${height + NOTE}` });
  copy.removeAttribute("style");
  set(ground, { width, height: height + NOTE, fill: token("--surface") });
  set(line, { x: 6, y: height + 14, fill: token("--text-2"), "font-size": 11, "font-family": token("--font-ui") });
  title.textContent = note;
  line.textContent = note;
  copy.prepend(title, ground);
  copy.append(line);
  copy.setAttribute("xmlns", ns);
  save(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), `${name}.svg`);
}
